internal import Foundation
internal import SQLCipherStore
internal import SeededNumbers
internal import SyncContract

/// Writes very many rows in pages of 1,000, each a transaction.
struct LargeWrite {
    private let databases: Databases
    private let rows: Int

    init(_ databases: Databases, rows: Int) {
        self.databases = databases
        self.rows = rows
    }

    /// What the write needs of memory and disk, and the database it leaves.
    func measure() async throws -> ([GrowthCheck], URL) {
        let file = databases.folder.newFile()
        let store = try await databases.openStore(file)
        let before = PeakMemory.bytes
        var longestLog = 0
        var generator = SeededGenerator(seed: Workload.seed)
        for first in stride(from: 0, to: rows, by: 1_000) {
            let page = (first..<min(first + 1_000, rows)).map { Workload.record(Workload.item($0, &generator)) }
            try await store.write { try $0.upsert(page, into: Workload.table.name) }
            longestLog = max(longestLog, Self.size(of: file.path + "-wal"))
        }
        let grown = PeakMemory.bytes - before
        await store.close()
        return (
            [
                GrowthCheck("memory above the start, peak", Double(grown) / 1_048_576, limit: 64, "MiB"),
                GrowthCheck("length of the log, longest", Double(longestLog) / 1_048_576, limit: 64, "MiB"),
            ], file
        )
    }

    private static func size(of path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
