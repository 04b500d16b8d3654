public import SyncContract

/// What came out of looking at every page and row of a store.
public struct StoreVerification: Sendable, Hashable {
    /// What is wrong, in the order in which it was found: files, WAL, pages, structure, tables, rows, queue.
    public internal(set) var findings: [StoreFinding] = []

    /// How many findings there were beyond the first 1,000, which are the ones that are kept.
    public internal(set) var omittedFindings = 0

    /// How many pages were looked at.
    public internal(set) var pages = 0

    /// How many rows were read, those of the system tables included.
    public internal(set) var rows = 0

    /// Whether no damage was found.
    public var isSound: Bool { findings.isEmpty }
}

extension StoreVerification {
    static let findingLimit = 1_000

    mutating func add(_ finding: StoreFinding) {
        if findings.count < Self.findingLimit { findings.append(finding) } else { omittedFindings += 1 }
    }
}
