internal import ConformanceRunner
internal import Foundation
internal import SyncContract

// Processes that are killed at no point in particular: in a commit, in a close, while they open what others have left.
extension StoreRules {
    static let killedAnywhen: [StoreRule] = [
        rule(
            "durability.killed-anywhen",
            survives,
            in: "SyncContextDataSource",
            "Six processes, one after the other, write, merge and delete rows of two tables in each transaction, and note"
                + " every transaction that returned; every other one closes and opens the store after each. They are"
                + " killed at random instants after the first of them, or after the first opening. What was noted must be there,"
                + " at most one transaction more, and that whole.",
            needs: "durable",
            drills: [
                "writer": { trial in
                    let store = try await trial.reopen()
                    let notes = try Notes(trial)
                    try await writeNumbered(store, notes)
                    try trial.killThisProcessAtItsInstant()
                    while true { try await writeNumbered(store, notes) }
                },
                "opener": { trial in
                    let notes = try Notes(trial)
                    var store = try await trial.reopen()
                    try trial.killThisProcessAtItsInstant()
                    while true {
                        try await writeNumbered(store, notes)
                        try await trial.close(store)
                        store = try await trial.reopen()
                    }
                },
            ]
        ) { trial in
            var random = trial.random()
            try await trial.close(try await trial.makeStore(at: trial.place()))
            var idle = 0
            for round in 0..<6 {
                // A store may take longer for a transaction than the process lives: the next ones live longer.
                for attempt in 1...4 {
                    try trial.chooseInstant(microseconds: attempt * Int.random(in: 0..<40_000, using: &random))
                    let before = try Notes.count(trial)
                    let (drill, name) = (round % 2 == 0 ? "writer" : "opener", "process \(round + 1) of 6")
                    guard let noted = try await notedAfterRunning(drill, name, trial) else { return }
                    if noted > before { break }
                    if attempt == 4 { idle += 1 }
                }
            }
            if idle > 0 {
                trial.note(
                    "6 processes, 3 of which close and open the store after each transaction",
                    expected: "a transaction of each before it was killed",
                    got: "none of \(idle) of them",
                    remark: "opening or writing takes longer than the processes lived, so that little was tried"
                )
            }
        }
    ]

    /// Runs a process until it is killed and looks at what it left: how many transactions are noted then, nil when others are
    /// there.
    private static func notedAfterRunning(_ drill: String, _ name: String, _ trial: StoreTrial) async throws -> Int? {
        try await trial.runKilled(drill)
        let store = try await trial.reopen()
        let tables = try await store.read { reader in
            try ["items", "other"].map { try reader.records(Query($0)) }
        }
        try await trial.close(store)
        let noted = try Notes.count(trial)
        let input = "\(name), after which \(noted) transactions are noted"
        let count = numberedCount(tables[0])
        guard count == noted || count == noted + 1 else {
            trial.report(
                input,
                expected: "\(noted) transactions, or one more",
                got: "\(count), by the last row of 'items'"
            )
            return nil
        }
        for (table, rows) in zip([TableDefinition.items, .other], tables) {
            trial.expectRows(rows, numberedRows(after: count, in: table), input + ": rows of '\(table.name)'")
        }
        // The next process goes on from there.
        try Notes.set(count, trial)
        return noted
    }

    /// Writes the next of transactions that each insert a row into two tables, merge into another, and delete a third.
    private static func writeNumbered(_ store: any SyncContextDataSource, _ notes: Notes) async throws {
        let count = try await store.write { transaction in
            let count = numberedCount(try transaction.records(Query("items")))
            try writeNumbered(count, &transaction)
            return count + 1
        }
        try notes.add(count)
    }

    /// The part of a transaction with a number.
    static func writeNumbered(_ number: Int, _ transaction: inout StoreTransaction) throws {
        for table in ["items", "other"] {
            try transaction.upsert(
                [numberedRow(.string("\(number)"), number), numberedRow("last", number)],
                into: table
            )
            _ = try transaction.delete([.string("\(number - 3)")], from: table)
        }
    }

    /// The rows of a table after so many of those transactions, by their ids.
    static func numberedRows(after count: Int, in table: TableDefinition) -> [Record] {
        guard count > 0 else { return [] }
        let rows = (max(0, count - 3)..<count).map { numberedRow(.string("\($0)"), $0) }
        let all = rows + [numberedRow("last", count - 1)]
        return all.sorted { ($0.id.stringValue ?? "") < ($1.id.stringValue ?? "") }.map { table.filled($0) }
    }

    private static func numberedRow(_ id: RecordID, _ number: Int) -> Record {
        // Long enough to take several pages of a file.
        let text = String(repeating: "\(number) ", count: 3_000)
        return Record(id: id, ["int": .int64(Int64(number)), "text": .string(text)])
    }

    private static func numberedCount(_ items: [Record]) -> Int {
        Int((items.first { $0.id == "last" }?["int"]?.int64Value ?? -1) + 1)
    }
}

/// The numbers of the transactions that returned, one to a line: the last one counts.
private final class Notes {
    private let file: FileHandle

    init(_ trial: StoreTrial) throws {
        let path = Self.path(trial)
        if !FileManager.default.fileExists(atPath: path) { try Self.set(0, trial) }
        file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
    }

    func add(_ count: Int) throws { try file.write(contentsOf: Data("\(count)\n".utf8)) }

    static func count(_ trial: StoreTrial) throws -> Int {
        guard FileManager.default.fileExists(atPath: path(trial)) else { return 0 }
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path(trial))), as: UTF8.self)
        // What comes after the last line end was not written to its end.
        return text.components(separatedBy: "\n").dropLast().last.flatMap { Int($0) } ?? 0
    }

    static func set(_ count: Int, _ trial: StoreTrial) throws {
        try Data("\(count)\n".utf8).write(to: URL(fileURLWithPath: path(trial)))
    }

    private static func path(_ trial: StoreTrial) -> String {
        URL(fileURLWithPath: trial.folder).appendingPathComponent("returned").path
    }
}

extension Trial where Subject == StoreSubject {
    private var instant: URL { URL(fileURLWithPath: folder).appendingPathComponent("instant") }

    /// Says how long the next process lives once it has begun.
    fileprivate func chooseInstant(microseconds: Int) throws { try Data("\(microseconds)".utf8).write(to: instant) }

    /// Lets a thread end this process when its time is over, whatever others do then.
    fileprivate func killThisProcessAtItsInstant() throws {
        let microseconds = Double(String(decoding: try Data(contentsOf: instant), as: UTF8.self)) ?? 0
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: microseconds / 1_000_000)
            killThisProcess()
        }
    }
}
