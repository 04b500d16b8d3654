import Foundation
import SealedSync
import Testing

/// The reports of a bookkeeping app, with one import.
@Suite("Reports that apps make")
struct ReportTests {
    struct Customer: SyncItem {
        var id = ""
        var name: String
    }

    struct Invoice: SyncItem {
        var id = ""
        var customerID: String
        var amount: Decimal
        var due: Date?
    }

    struct Turnover: Decodable, Sendable, Equatable {
        var name: String
        var invoices: Int
        var total: Decimal
    }

    private let folder: UserFolder
    private static let schema = try! StoreSchema([
        TableDefinition("Customer", columns: [.init("name", .string)]),
        TableDefinition(
            "Invoice",
            columns: [.init("customerID", .string), .init("amount", .decimal), .init("due", .date)]
        ),
    ])

    init() throws { folder = try UserFolder() }

    @Test("totals and turnovers are exact, in transactions as well, and stay right")
    func turnover() async throws {
        let context = try await SyncContext.open(
            StoreFolder(folder.parent.appending(path: "books")),
            schema: Self.schema,
            unlocker: .secretFile(folder.parent.appending(path: "user.secret"))
        )
        let (customers, invoices) = (try context.table(Customer.self), try context.table(Invoice.self))
        let today = Date(timeIntervalSince1970: 1_800_000_000)
        let report = context.sql(
            """
            SELECT c.name, count(*) AS invoices, decimal_sum(i.amount) AS total
            FROM \(invoices) i JOIN \(customers) c ON c.id = i.customerID
            WHERE i.due >= \(today) GROUP BY c.id ORDER BY total COLLATE decimal DESC
            """,
            as: Turnover.self
        )
        var turnovers = report.observe().makeAsyncIterator()
        #expect(try await turnovers.next() == [])
        #expect(try await report.first() == nil)
        let amount = try #require(Decimal(string: "0.1"))
        let ann = try await customers.insert(Customer(name: "Ann"))
        let totals = try await context.write { tx in
            let invoice = Invoice(customerID: ann.id, amount: amount, due: today)
            try tx.insert(contentsOf: Array(repeating: invoice, count: 30), into: invoices)
            return (
                try tx.aggregate(invoices.query.aggregating(.count, .sum(of: "amount"), by: "customerID")),
                try tx.rows("SELECT decimal_sum(amount) AS total FROM \(invoices)")
            )
        }
        let three = try #require(DecimalText("3"))
        #expect(totals.0 == [AggregateGroup(group: .string(ann.id), values: [30, .decimal(three)])])
        #expect(totals.1 == [SQLRow(names: ["total"], values: ["3"])])
        #expect(try await turnovers.next() == [Turnover(name: "Ann", invoices: 30, total: 3)])
        #expect(try await report.read() == [Turnover(name: "Ann", invoices: 30, total: 3)])
        let latest = try await invoices.aggregate(invoices.query.aggregating(.maximum(of: "due"), .minimum(of: "id")))
        #expect(latest.first?.values.first == .date(Timestamp(milliseconds: 1_800_000_000_000)))
        await context.close()
    }
}
