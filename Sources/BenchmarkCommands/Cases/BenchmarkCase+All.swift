internal import SyncContract

extension BenchmarkCase {
    /// All cases, in the order of the report.
    static func all(_ workload: Workload, _ folder: TemporaryFolder) throws -> [BenchmarkCase] {
        let databases = try Databases(workload: workload, folder: folder)
        return bulkWrites(databases) + transactions(databases) + singleReads(databases) + blockReads(databases)
            + scans(databases) + states(databases) + reports(databases) + [deletion(databases), opening(databases)]
    }
}
