import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SecretMemory
import SeededNumbers
import SyncContract
import Testing

/// A server of many rows, none of which it holds.
struct NumberedServer: SyncRemote {
    let rows: Int
    let text: String
    /// Called with the number of the first row of a page, before it is answered.
    var onPage: @Sendable (Int) -> Void = { _ in }
    let replacesWholeRows = true

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record { record }
    func update(_ record: Record, in table: TableDefinition, version: String?, restoring: Bool) async throws -> Record {
        record
    }
    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        .confirmed
    }
    func record(_ id: String, in table: TableDefinition) async throws -> Record? { nil }
    func confirm(_ table: TableDefinition) async throws {}

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        let start: Int =
            switch position {
            case .everything, .changes(nil): 0
            case .changes(let text?), .next(let text): Int(text) ?? 0
            }
        onPage(start)
        let end = min(rows, start + (pageSize ?? 1_000))
        let records = (start..<end)
            .map { number in
                Record(id: .string("row \(number)"), ["text": .string("\(text) \(number)"), "version": "1"])
            }
        return PullPage(
            records: records,
            next: end < rows ? .next("\(end)") : nil,
            cursor: "\(end)",
            totalCount: rows - start
        )
    }
}

#if os(Linux) || os(macOS)
/// Encrypted files and processes of their own.
@Suite("A reset in a process of its own")
struct ResetProcessTests {
    private static let rows = 20_000
    private static let all = [FreshPull(Query("TodoItem"), options: PullOptions(pageSize: 1_000))]

    static func open(_ database: URL) async throws -> EncryptedStore {
        try await EncryptedStore.open(at: database, key: .testKey(), schema: StoreSchema([todoTable]))
    }

    /// Brings everything anew, and dies before a page that is asked for.
    static func reset(_ database: URL, dyingAt page: Int) async throws {
        let store = try await open(database)
        let server = NumberedServer(rows: rows, text: "fresh") { if $0 == page { kill(getpid(), SIGKILL) } }
        _ = try await SyncContext(store: store, remote: server).reset(onto: all, discardsChanges: false)
        await store.close()
    }

    @Test("that is killed leaves what was, and goes on where it was, or what is new")
    func killed() async throws {
        let folder = try TestFolder()
        let store = try await Self.open(folder.database)
        let context = SyncContext(store: store, remote: NumberedServer(rows: Self.rows + 500, text: "old"))
        let table = try context.table("TodoItem")
        try await table.pull(options: PullOptions(pageSize: 1_000))
        try await context.write { [table] transaction in
            for number in 0..<100 {
                try transaction.insert(["text": .string("mine \(number)")], id: "new \(number)", into: table)
                try transaction.delete("row \(Self.rows + number)", from: table)
            }
        }
        await store.close()

        // How long it takes when nobody disturbs it.
        let copy = try TestFolder()
        try FileManager.default.copyItem(at: folder.database, to: copy.database)
        let began = ContinuousClock.now
        try await Self.reset(copy.database, dyingAt: .max)
        let duration = Int((ContinuousClock.now - began) / .microseconds(1))

        var random = SeededGenerator(seed: SeededGenerator.seed())
        var (isDone, pages) = (false, 0)
        for round in 0..<SeededGenerator.rounds(5, all: 30) where !isDone {
            // While a page is asked for, or at any instant, among them those of the switch.
            let isTimed = round % 2 == 1
            let page = isTimed ? -1 : min(pages + 2_000, Self.rows - 1_000)
            let delay = isTimed ? Int.random(in: 0..<duration, using: &random) : 600_000_000
            let path = folder.database.path
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, page = page as Int, delay = delay as Int] in
                DispatchQueue.global()
                    .asyncAfter(deadline: .now() + .microseconds(delay)) { _ = kill(getpid(), SIGKILL) }
                try await ResetProcessTests.reset(URL(filePath: path), dyingAt: page)
                kill(getpid(), SIGKILL)
            }
            let store = try await Self.open(folder.database)
            let (old, fresh, came) = try await store.read { reader in
                let rows = Query("TodoItem")
                let cursors = try reader.records(
                    Query(SystemTables.configuration.name).filtered(by: Column("keyType") == 1_052)
                )
                return (
                    try reader.count(rows.filtered(by: Column("text").starts(with: "old"))),
                    try reader.count(rows.filtered(by: Column("text").starts(with: "fresh"))),
                    cursors.first?["value"]?.stringValue.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
                )
            }
            isDone = fresh > 0
            #expect(isDone ? old == 0 && fresh == Self.rows : old == Self.rows + 400, "one or the other")
            #expect(isDone || came >= pages, "what came is not asked for again")
            pages = max(pages, came)
            #expect(try await store.verifyQueue().isEmpty)
            await store.close()
        }

        let last = try await Self.open(folder.database)
        let again = SyncContext(store: last, remote: NumberedServer(rows: Self.rows, text: "fresh"))
        let report: ResetReport
        if case .done(let done) = try await again.resetStage() {
            report = done
        } else {
            report = try await again.reset(onto: Self.all, discardsChanges: false)
        }
        #expect(report.waiting == 200 && report.recovered == 100 && report.settled == 100, "\(report)")
        try await again.endReset()
        let counts = try await last.read { reader in
            let rows = Query("TodoItem")
            return [
                try reader.count(rows), try reader.count(rows.filtered(by: Column("text").starts(with: "mine"))),
                try reader.count(
                    Query(SystemTables.configuration.name).filtered(by: Column("keyType") > 1_049)
                ),
            ]
        }
        #expect(counts == [Self.rows + 100, 100, 0])
        #expect(try await last.verifyQueue().isEmpty)
        await last.close()
    }

    #if os(Linux)
    /// The most memory that the process has had so far, in MiB; what it was started from does not count.
    static func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(whereSeparator: \.isWhitespace)[1])) / 1_024
    }

    @Test("of 100,000 rows takes no more memory than one of 30,000")
    func memory() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TestFolder()
            let store = try await ResetProcessTests.open(folder.database)
            var peaks: [Int] = []
            // The last one removes nearly all.
            for rows in [30_000, 100_000, 10_000] {
                let server = NumberedServer(rows: rows, text: String(repeating: "\(rows) ", count: 20))
                let context = SyncContext(store: store, remote: server)
                _ = try await context.reset(onto: ResetProcessTests.all, discardsChanges: false)
                try await context.endReset()
                let count = try await store.read { try $0.count(Query("TodoItem")) }
                #expect(count == rows)
                peaks.append(try ResetProcessTests.peakMemory())
            }
            #expect(peaks[2] - peaks[0] < 16, "\(peaks) MiB")
            await store.close()
        }
    }
    #endif
}
#endif
