import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import OfflineSync
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@Suite("A store that was for one device, and gets a server")
struct AttachedServerTests {
    private static let tables = [
        TableDefinition("Customer", columns: [.init("name", .string)]),
        TableDefinition(
            "Invoice",
            columns: [
                .init("customer", .string, references: "Customer", onDelete: .cascade),
                .init("amount", .decimal, wireName: "total"), .init("isFavourite", .bool, isLocal: true),
            ],
            wireName: "bills"
        ),
        TableDefinition("Search", columns: [.init("text", .string)], isLocalOnly: true),
    ]

    private func open(_ folder: TestFolder) async throws -> EncryptedStore {
        try await EncryptedStore.open(
            at: folder.database,
            key: .testKey(),
            schema: try StoreSchema(Self.tables),
            translating: .operations
        )
    }

    @Test(
        "has everything sent that was made before, and nothing that was taken back",
        arguments: DatasyncDialect.allCases
    )
    func attached(_ dialect: DatasyncDialect) async throws {
        let folder = try TestFolder()
        for round in 1...3 {
            // The app starts three times without a server.
            let store = try await open(folder)
            let context = SyncContext(store: store)
            let (customers, invoices) = (try context.table("Customer"), try context.table("Invoice"))
            try await context.write { transaction in
                let customer: [String: FieldValue] = ["name": .string("Customer \(round)")]
                try transaction.insert(customer, id: "c\(round)", into: customers)
                for number in 1...3 {
                    let invoice: [String: FieldValue] = [
                        "customer": .string("c\(round)"), "amount": .decimal(DecimalText("\(number).50")!),
                    ]
                    try transaction.insert(invoice, id: "i\(round)\(number)", into: invoices)
                }
            }
            try await invoices.update(Record(id: .string("i\(round)1"), ["amount": 7, "isFavourite": true]))
            try await invoices.delete("i\(round)2")
            try await context.table("Search").insert(["text": "kept here"], id: "s\(round)")
            if round == 3 { try await customers.delete("c2") }
            #expect(try await syncErrorCode { _ = try await context.sync() } == .unsupported)
            await store.close()
        }

        let emulator = Emulator(
            EmulatorConfiguration(
                dialect: dialect == .datasync ? .datasync : .azureMobileApps,
                tables: ["Customer", "bills"]
            )
        )
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: dialect,
            transport: EmulatorTransport(emulator)
        )
        let store = try await open(folder)
        let context = SyncContext(store: store, remote: remote)
        let report = try await context.sync()
        #expect(report.push.pushed == 6 && report.notTaken.isEmpty && report.isComplete)
        let sent = emulator.rows(in: "bills")
        #expect(Set(sent.compactMap { $0["id"]?.string }) == ["i11", "i13", "i31", "i33"])
        #expect(sent.allSatisfy { $0["total"] != nil && $0["amount"] == nil && $0["isFavourite"] == nil })
        #expect(Set(emulator.rows(in: "Customer").compactMap { $0["id"]?.string }) == ["c1", "c3"])
        #expect(try await context.operations().isEmpty)
        #expect(try await context.table("Invoice").read("i11")?["isFavourite"] == true)
        #expect(try await context.table("Search").count(Query("Search")) == 3)
        #expect(try await store.verifyQueue().isEmpty)
        await store.close()
    }
}
