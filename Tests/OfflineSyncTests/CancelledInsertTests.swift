import Foundation
import OfflineSync
import ReferenceStore
import SyncContract
import Synchronization
import Testing

@Suite("Inserts that deletions have cancelled, in a store without a server")
struct CancelledInsertTests {
    /// The time of day, in days since 1970.
    private final class Days: Sendable {
        private let passed = Mutex<Int64>(20_000)

        var now: Timestamp { Timestamp(milliseconds: passed.withLock { $0 } * 86_400_000) }
        func advance(by days: Int64) { passed.withLock { $0 += days } }
    }

    private let kept = Query(SystemTables.configuration.name).filtered(by: Column("keyType") == 1_004)
        .ordered(by: "key")
    private let store: MemoryStore
    private let days: Days
    private let table: SyncTable<Record>

    init() throws {
        let days = Days()
        store = try makeStore()
        self.days = days
        table = try SyncContext(store: store, now: { days.now }).table("TodoItem")
    }

    /// Makes a row and deletes it.
    private func cancel(_ id: String) async throws {
        try await table.insert(["text": "milk"], id: id)
        try await table.delete(id)
    }

    private func rowsKept() async throws -> [Record] { try await store.read(kept).records }

    @Test("are taken back within a week, and after it as long as no other one comes", arguments: [0, 6, 8] as [Int64])
    func takenBack(after time: Int64) async throws {
        try await cancel("a")
        days.advance(by: time)
        try await table.undoDelete("a")
        #expect(try await table.read("a")?["text"] == "milk")
        #expect(try await rowsKept().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("are gone when another one comes after a week, which is counted from the last deletion")
    func old() async throws {
        try await cancel("a")
        days.advance(by: 6)
        try await cancel("b")
        try await table.undoDelete("a")
        try await table.delete("a")
        days.advance(by: 6)
        try await cancel("c")
        #expect(try await rowsKept().count == 3)
        days.advance(by: 1)
        try await cancel("d")
        #expect(try await rowsKept().map { $0["key"] } == [.string("c"), .string("d")])
        #expect(try await syncErrorCode { try await table.undoDelete("a") } == .invalidAction)
        try await table.undoDelete("c")
        #expect(try await table.read("c")?["text"] == "milk")
    }

    @Test("without a time, as earlier versions wrote them, or with one to come, stay for a week from now on")
    func withoutTime() async throws {
        try await cancel("a")
        try await cancel("b")
        let rows = try await rowsKept()
        let earlier = try rows.map { row in
            let value = try #require(row["value"]?.stringValue)
            let date = #""date":\#(days.now.milliseconds),"#
            try #require(value.contains(date))
            let isWithout = row["key"] == "a"
            let later = #""date":\#(days.now.milliseconds + 400 * 86_400_000),"#
            return Record(
                id: row.id,
                ["value": .string(value.replacingOccurrences(of: date, with: isWithout ? "" : later))]
            )
        }
        try await store.upsert(earlier, table: SystemTables.configuration.name)
        days.advance(by: 30)
        try await cancel("c")
        days.advance(by: 6)
        try await cancel("d")
        #expect(try await rowsKept().count == 4)
        try await table.undoDelete("a")
        #expect(try await table.read("a")?["text"] == "milk")
        days.advance(by: 1)
        try await cancel("e")
        #expect(try await rowsKept().map { $0["key"] } == [.string("d"), .string("e")])
        #expect(try await store.verifyQueue().isEmpty)
    }
}
