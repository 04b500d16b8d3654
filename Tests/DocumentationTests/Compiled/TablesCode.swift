import Foundation
import SealedSync

// The code of the articles "New versions of an app's tables" and "Rows that refer to others", word for word.

private func migrations(_ invoice: TableDefinition, _ customer: TableDefinition) throws -> StoreSchema {
    let schema = try StoreSchema(
        version: 3,
        [invoice, customer],
        migrations: [
            Migration(
                to: 2,
                .renameTable("Bill", to: "Invoice"),
                .renameColumn("price", to: "amount", in: "Invoice")
            ),
            Migration(
                to: 3,
                .convertColumn("amount", in: "Invoice") { (old: Double) in Decimal(string: "\(old)") },
                .fillColumn("status", in: "Invoice") { row in row["paidAt"] == .null ? Status.sent : Status.paid },
                .dropColumn("paidAt", in: "Invoice")
            ),
        ]
    )
    return schema
}

private enum Status: String, Codable, CaseIterable, ColumnValue { case draft, sent, paid }

private struct Invoice: SyncItem {
    var id = ""
    var amount: Decimal
    var isFavourite = false
}

private struct RecentSearch: SyncItem {
    var id = ""
    var text: String
}

private func names() throws -> StoreSchema {
    let tables: StoreSchema = try [
        .init(Invoice.self, .wireName("bills"), .wireName("total", for: \.amount), .local(\.isFavourite)),
        .init(RecentSearch.self, .localOnly),
    ]
    return tables
}

private func relations() -> TableDefinition {
    TableDefinition(
        "Invoice",
        columns: [
            .init("customer", .string, references: "Customer", onDelete: .cascade),
            .init("folder", .string, references: "Folder", onDelete: .nullify),
        ],
        indexes: [["customer"], ["folder"]]
    )
}
