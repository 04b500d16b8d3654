import Foundation
import SealedSync

// The code of the article "Queries", word for word.

enum Priority: String, Codable, ColumnValue { case low, high }

private struct Order: SyncItem {
    var id = ""
    var count = 1
    var price: Decimal
    var due: Date
}

private struct Customer: SyncItem {
    var id = ""
    var name: String
}

private struct Invoice: SyncItem {
    var id = ""
    var customerID: String
    var amount: Decimal
    var paid = false
    var due: Date
}

private func typed(_ todos: SyncTable<TodoItem>, _ tomorrow: Date) -> [any SyncSource] {
    let urgent = todos.where { $0.due < tomorrow && !$0.complete }.ordered(by: \.text.folded).limited(to: 10)
    let found = todos.where { $0.text.matches(words: "łód пят") }.ordered(by: \.complete).ordered(by: \.text.folded)
    let anywhere: TableQuery<SyncTable<TodoItem>> =
        todos.filtered(by: .matches(words: "łód пят", in: ["text", "place"]))
    return [urgent, found, anywhere]
}

private func untyped() -> TableDefinition {
    let definition = TableDefinition("TodoItem", columns: [.init("text", .string), .init("due", .date)])
    return definition
}

private func computed(_ orders: SyncTable<Order>, send: ([Order]) -> Void) async throws {
    let large = orders.where { $0.count.decimal * $0.price > 100 && $0.due.year == 2026 }
    for try await batch in large.ordered(by: \.due).batches(of: 500) { send(batch) }
}

private func sums(_ invoices: SyncTable<Invoice>) async throws {
    let unpaid = invoices.where { !$0.paid }
    print(try await unpaid.sum(of: \.amount), "owed")
    for (customer, sum) in try await unpaid.sum(of: \.amount, by: \.customerID) { print(customer, sum) }
}

private func reports(
    _ context: SyncContext,
    _ invoices: SyncTable<Invoice>,
    _ customers: SyncTable<Customer>,
    _ today: Date
) async throws {
    struct Turnover: Decodable, Equatable {
        var name: String
        var invoices: Int
        var total: Decimal
    }
    let report = context.sql(
        """
        SELECT c.name, count(*) AS invoices, decimal_sum(i.amount) AS total
        FROM \(invoices) i JOIN \(customers) c ON c.id = i.customerID
        WHERE i.due >= \(today) GROUP BY c.id ORDER BY total COLLATE decimal DESC
        """,
        as: Turnover.self
    )
    for row in try await report.read() { print(row.name, row.total) }
}

private func oneInstant(
    _ context: SyncContext,
    _ invoices: SyncTable<Invoice>,
    _ customers: SyncTable<Customer>,
    show: ([Int]) -> Void
) async throws {
    let totals = context.observe { reader in
        [try reader.count(invoices.where { $0.paid }), try reader.count(customers)]
    }
    for try await counts in totals { show(counts) }
}
