import Foundation
import ItemCoding
import OfflineSync
import ReferenceStore
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@Suite("Sums and groups of an item type's columns")
struct TypedAggregateTests {
    enum Status: String, Codable, CaseIterable, ColumnValue { case draft, sent, paid }

    struct Invoice: SyncItem {
        var id = ""
        var customerID: String
        var status = Status.draft
        var amount: Decimal
        var count = 1
        var weight = 0.5
        var discount: Decimal?
        var due: Date?
        var owner: UUID?
    }

    /// A store of each kind.
    enum Kept: CaseIterable { case inMemory, encrypted }

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func with(_ kept: Kept, _ body: (SyncContext, SyncTable<Invoice>) async throws -> Void) async throws {
        let table = try TableDefinition(Invoice.self, .example(Invoice(customerID: "", amount: 0)))
        let store: any SyncContextDataSource =
            switch kept {
            case .inMemory: MemoryStore(try StoreSchema([table]))
            case .encrypted: try await EncryptedStore.open(in: folder, [table])
            }
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        try await body(context, context.table(Invoice.self))
        if let store = store as? EncryptedStore { await store.close() }
    }

    private static let today = Date(timeIntervalSince1970: 1_800_000_000)

    private func decimal(_ text: String) throws -> Decimal { try #require(Decimal(string: text)) }

    @Test("are exact, in the types of the properties, of whole tables and of parts", arguments: Kept.allCases)
    func results(_ kept: Kept) async throws {
        let tenth = try decimal("0.1")
        try await with(kept) { context, invoices in
            #expect(try await invoices.sum(of: \.amount) == 0)
            #expect(try await invoices.average(of: \.amount) == nil)
            #expect(try await invoices.min(of: \.due) == nil)
            #expect(try await invoices.count(by: \.status).isEmpty)
            try await context.write { tx in
                for number in 1...3 {
                    try tx.insert(
                        Invoice(
                            customerID: number == 3 ? "bob" : "ann",
                            status: number == 1 ? .paid : .sent,
                            amount: tenth,
                            count: number,
                            discount: number == 2 ? tenth : nil,
                            due: number == 1 ? nil : Self.today.addingTimeInterval(Double(number))
                        ),
                        into: invoices
                    )
                }
            }
            #expect(try await invoices.sum(of: \.amount) == decimal("0.3"))
            #expect(try await invoices.sum(of: \.count) == 6)
            #expect(try await invoices.sum(of: \.weight) == 1.5)
            #expect(try await invoices.sum(of: \.discount) == tenth)
            let sent = invoices.where { $0.status == .sent }
            #expect(try await sent.sum(of: \.count) == 5)
            #expect(try await sent.average(of: \.count) == 2.5)
            #expect(try await invoices.average(of: \.discount) == tenth, "of those that have one")
            #expect(try await invoices.average(of: \.amount) == tenth)
            #expect(try await invoices.average(of: \.weight) == 0.5)
            #expect(try await invoices.min(of: \.due) == Self.today.addingTimeInterval(2))
            #expect(try await invoices.max(of: \.due) ?? .distantPast == Self.today.addingTimeInterval(3))
            #expect(try await invoices.max(of: \.status) == .sent)
            #expect(try await invoices.min(of: \.customerID) == "ann")
            #expect(try await invoices.count(by: \.status)[.paid, default: 0] == 1)
            #expect(try await invoices.count(by: \.due).count == 3)
            #expect(try await invoices.count(by: \.syncState) == [.pending: 3])
            #expect(try await invoices.sum(of: \.amount, by: \.customerID) == ["ann": decimal("0.2"), "bob": tenth])
            #expect(try await invoices.ordered(by: \.count, .descending).limited(to: 2).sum(of: \.count) == 5)

            let (sum, least, most, average, counts, sums) = try await context.read { tx in
                (
                    try tx.sum(of: \.amount, in: sent), try tx.min(of: \.count, in: sent),
                    try tx.max(of: \.due, in: invoices), try tx.average(of: \.count, in: sent),
                    try tx.count(by: \.status, in: invoices), try tx.sum(of: \.count, by: \.customerID, in: sent)
                )
            }
            #expect(try sum == decimal("0.2") && least == 2 && average == 2.5)
            #expect(most == Self.today.addingTimeInterval(3))
            #expect(counts == [.paid: 1, .sent: 2] && sums == ["ann": 2, "bob": 3])

            var live = context.observe { try $0.sum(of: \.count, in: sent) }.makeAsyncIterator()
            #expect(try await live.next() == 5)
            _ = try await sent.delete()
            #expect(try await live.next() == 0)
            await #expect(throws: StoreError.self) {
                try await invoices.filtered(by: Column("due") == "x").sum(of: \.count)
            }
        }
    }

    @Test(
        "one value of a type is one group: null with the example's, and a UUID in both cases",
        arguments: Kept.allCases
    )
    func groups(_ kept: Kept) async throws {
        try await with(kept) { context, invoices in
            let owner = UUID()
            let rows: [(String, FieldValue, FieldValue)] = [
                ("1", .null, .string(owner.uuidString)), ("2", "draft", .string(owner.uuidString.lowercased())),
                ("3", "paid", .null),
            ]
            for (id, status, owner) in rows {
                try await invoices.table.insert(
                    ["status": status, "owner": owner, "amount": .decimal(DecimalText(1)), "count": 2, "weight": 1.5],
                    id: id
                )
            }
            #expect(try await invoices.count(by: \.status) == [.draft: 2, .paid: 1])
            #expect(try await invoices.sum(of: \.amount, by: \.status) == [.draft: 2, .paid: 1])
            #expect(try await invoices.sum(of: \.count, by: \.owner) == [owner: 4, nil: 2])
            #expect(try await invoices.sum(of: \.weight, by: \.owner) == [owner: 3, nil: 1.5])
            try await invoices.table.update(Record(id: "3", ["status": "unheard-of"]))
            let error = await #expect(throws: SyncError.self) { try await invoices.count(by: \.status) }
            #expect(error?.code == .invalidItem && error?.message.contains("'status'") == true)
            #expect(error?.message.contains("unheard") == false)
        }
    }

    @Test("a sum that a type cannot hold is an error", arguments: Kept.allCases)
    func bounds(_ kept: Kept) async throws {
        try await with(kept) { _, invoices in
            let long = try #require(DecimalText("0." + String(repeating: "1", count: 50)))
            try await invoices.table.insert(["amount": .decimal(long), "count": .int64(.max)])
            try await invoices.table.insert(["amount": .decimal(DecimalText(1)), "count": 1])
            let amount = await #expect(throws: StoreError.self) { try await invoices.sum(of: \.amount) }
            let count = await #expect(throws: StoreError.self) { try await invoices.sum(of: \.count) }
            #expect(amount?.code == .outOfRange && count?.code == .outOfRange)
        }
    }

    struct Step: SyncItem {
        var id = ""
        var rise: Int16
    }

    @Test("a sum that the property's type is too narrow for is out of its range, and there with 64 bits")
    func narrow() async throws {
        let table = try TableDefinition(Step.self)
        let context = SyncContext(
            store: MemoryStore(try StoreSchema([table])),
            remote: UnavailableRemote.unreachable
        )
        let steps = try context.table(Step.self)
        for _ in 0..<2 { try await steps.insert(Step(rise: 20_000)) }
        let error = await #expect(throws: StoreError.self) { try await steps.sum(of: \.rise) }
        #expect(error?.code == .outOfRange && error?.message.contains("'rise'") == true)
        #expect(try await steps.max(of: \.rise) == 20_000)
        let sums = try await steps.table.aggregate(AggregateQuery(steps.table.query, [.sum(of: "rise")]))
        #expect(sums.first?.values == [40_000])
    }

    @Test("there is an average where the sum has too many digits, or does not fit 64 bits", arguments: Kept.allCases)
    func averages(_ kept: Kept) async throws {
        try await with(kept) { context, invoices in
            for (id, amount, count) in [
                ("1", "0.33333333333333333333333333333333333333", Int.max),
                ("2", "6.6666666666666666666666666666666666666", .max), ("3", "1", .max - 3),
            ] {
                try await invoices.insert(Invoice(id: id, customerID: "", amount: decimal(amount), count: count))
            }
            await #expect(throws: StoreError.self) { try await invoices.sum(of: \.amount) }
            #expect(try await invoices.average(of: \.amount) == decimal("2.6666666666666666666666666666666666666"))
            await #expect(throws: StoreError.self) { try await invoices.sum(of: \.count) }
            #expect(try await invoices.average(of: \.count) == Double(Int.max - 1))
            let two = invoices.where { $0.id != "3" }
            let inTransaction = try await context.read { try $0.average(of: \.count, in: two) }
            #expect(inTransaction == Double(Int.max))
        }
    }
}
