import Foundation
import ItemCoding
import OfflineSync
import ReferenceStore
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@Suite("Numbers that JSON cannot express")
struct InfiniteNumberTests {
    @Test("are refused before anything is queued: no push could send them, nor what waits behind them")
    func refused() async throws {
        let definition = TableDefinition("TodoItem", columns: [.init("price", .double)])
        let store = try makeStore(definition)
        let table = try SyncContext(store: store, remote: UnavailableRemote.unreachable).table("TodoItem")
        try await table.insert(["price": 1.5], id: "a")
        for number in [Double.infinity, -.infinity, .nan] {
            let inserting = try await syncErrorCode { try await table.insert(["price": .double(number)], id: "b") }
            let updating = try await syncErrorCode {
                try await table.update(Record(id: "a", ["price": .double(number)]))
            }
            #expect(inserting == .invalidItem && updating == .invalidItem)
        }
        #expect(try await table.read(table.query).records.map(\.id) == ["a"])
        #expect(try await table.read("a")?["price"] == 1.5)
    }

    private struct Bill: SyncItem {
        var id: String
        var due: Date
        var noted: Date
    }

    @Test(
        "nor are dates queued that no service reads, Date.distantPast among them, in columns that go to one",
        arguments: [false, true]
    )
    func dates(_ isEncrypted: Bool) async throws {
        let schema: StoreSchema = try [.init(Bill.self, .local(\.noted))]
        let folder = try TestFolder()
        let store: any SyncContextDataSource =
            isEncrypted ? try await EncryptedStore.open(in: folder, schema.tables) : MemoryStore(schema)
        do {
            let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
            let bills = try context.table(Bill.self)
            func seconds(_ value: Double) -> Date { Date(timeIntervalSince1970: value) }
            let ends = [seconds(-62_135_596_800), seconds(253_402_300_799.5)]
            for (number, end) in ends.enumerated() {
                try await bills.insert(Bill(id: "\(number)", due: end, noted: .distantPast))
                try await bills.update(Bill(id: "\(number)", due: end, noted: .now))
            }
            for date in [Date.distantPast, seconds(-62_135_596_801), seconds(253_402_300_800)] {
                let tried: [() async throws -> Void] = [
                    { try await bills.insert(Bill(id: "x", due: date, noted: .now)) },
                    { try await bills.update(Bill(id: "0", due: date, noted: .now)) },
                    {
                        try await context.write {
                            try $0.insert(contentsOf: [Bill(id: "x", due: date, noted: .now)], into: bills)
                        }
                    },
                ]
                for change in tried {
                    let error = await #expect(throws: (any Error).self) { try await change() }
                    let message = error?.localizedDescription ?? ""
                    #expect((error as? SyncError)?.code == .invalidItem || (error as? StoreError)?.code == .invalidItem)
                    #expect(message.contains("'due'"), "\(message)")
                }
            }
            #expect(try await bills.read().map(\.due) == ends)
        }
        if let store = store as? EncryptedStore { await store.close() }
    }

    @Test("a date that is there already keeps nothing else of its row from being changed")
    func dateOfBefore() async throws {
        let store = MemoryStore(try [.init(Bill.self, .local(\.noted))])
        let early = Record(
            id: "a",
            ["due": .date(Timestamp(.distantPast)), "noted": .date(Timestamp(.now)), "version": "1"]
        )
        try await store.upsert([early], table: "Bill")
        let bills = try SyncContext(store: store, remote: UnavailableRemote.unreachable).table(Bill.self)
        var bill = try #require(try await bills.read("a"))
        bill.noted = .distantFuture
        try await bills.update(bill)
        bill.due = .distantPast.addingTimeInterval(1)
        let error = await #expect(throws: SyncError.self) { try await bills.update(bill) }
        #expect(error?.code == .invalidItem)
    }
}
