import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

/// Types of .NET have defaults that a server puts where nothing was sent.
@Suite("A null in whose place the server keeps the default of its column's type")
struct ServerDefaultTests {
    private static let columns: [ColumnDefinition] = [
        .init("text", .string), .init("note", .string), .init("due", .date), .init("owner", .string),
        .init("day", .string),
        .init("at", .string), .init("photo", .bytes), .init("extra", .json), .init("count", .int64),
        .init("price", .decimal), .init("open", .bool),
        .init("brand", .string, references: "Brand"), .init("shop", .string, references: "Brand"),
    ]

    private let emulator = Emulator(
        EmulatorConfiguration(tables: [
            "Brand",
            EmulatedTableDefinition(
                "Coupon",
                columns: [
                    "text": .text, "note": .text, "due": .date, "owner": .uuid, "day": .day, "at": .time,
                    "photo": .bytes,
                    "extra": .json,
                    "count": .integer, "price": .decimal, "open": .boolean, "brand": .text, "shop": .uuid,
                ]
            ),
        ])
    )

    private func device(assignsIDs: Bool = false) throws -> (SyncContext, SyncTable<Record>, InterceptedServer) {
        let server = InterceptedServer(
            try DatasyncRemote(
                baseURL: EmulatorTransport.url,
                dialect: .datasync,
                transport: EmulatorTransport(emulator)
            )
        )
        let table = TableDefinition("Coupon", columns: Self.columns, assignsIDs: assignsIDs)
        // What a default names would be a row of another table, one that is nowhere.
        let brands = TableDefinition("Brand", columns: [.init("name", .string)], assignsIDs: true)
        let context = SyncContext(store: MemoryStore(try StoreSchema([brands, table])), remote: server)
        return (context, try context.table("Coupon"), server)
    }

    private func loseAnswer(_ context: SyncContext, _ server: InterceptedServer) async throws {
        server.intercept(.answerLost)
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
    }

    @Test("is this device's own row after a lost answer, whoever chooses the ids", arguments: [false, true])
    func inserted(_ assignsIDs: Bool) async throws {
        let (context, table, server) = try device(assignsIDs: assignsIDs)
        try await table.insert(["text": "milk"])
        try await loseAnswer(context, server)
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.pushed == 1)
        #expect(emulator.rows(in: "Coupon").count == 1)
        #expect(try await context.operations().isEmpty)
    }

    @Test("names no row of another table, whoever chooses the ids", arguments: [false, true])
    func named(_ assignsIDs: Bool) async throws {
        let (context, table, _) = try device(assignsIDs: assignsIDs)
        try emulator.seed([["id": "theirs", "text": "bread"]], in: "Coupon")
        try await table.insert(["text": "milk"])
        #expect(try await context.push().pushed == 1)
        try await table.pull()
        #expect(try await context.store.read(Query("Coupon").filtered(by: Column("brand") == "")).records.count == 2)
        let none = FieldValue.string("00000000-0000-0000-0000-000000000000")
        #expect(try await context.store.read(Query("Coupon").filtered(by: Column("shop") == none)).records.count == 2)
    }

    @Test("is this device's own write when what was there is taken away, and the answer is lost")
    func emptied() async throws {
        let (context, table, server) = try device()
        let due = try #require(Timestamp("2026-11-28T08:00:00.000Z"))
        try await table.insert(["text": "milk", "note": "n", "due": .date(due), "day": "2026-11-28"], id: "a")
        _ = try await context.push()
        try await table.update(Record(id: "a", ["text": "bread", "note": .null, "due": .null, "day": .null]))
        try await loseAnswer(context, server)
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.pushed == 1)
        #expect(emulator.rows(in: "Coupon").first?["text"] == "bread")
    }

    @Test("is no own row when anything else differs, and no default where something was sent")
    func ofOthers() async throws {
        let (context, table, server) = try device()
        let others: [[String: JSONValue]] = [
            ["note": "theirs"], ["due": "0001-01-01T00:00:00.001Z"], ["day": "0001-01-02"], ["at": "00:00:00.100"],
            ["owner": "00000000-0000-0000-0000-000000000001"], ["photo": "AA=="], ["count": 1],
        ]
        for (number, other) in others.enumerated() {
            let id = "r\(number)"
            try await table.insert(["text": "milk"], id: id)
            server.intercept(.requestLost)
            _ = try await syncErrorCode { _ = try await context.push() }
            try emulator.seed([other.merging(["id": .string(id), "text": "milk"]) { $1 }], in: "Coupon")
            #expect(try await context.push().conflicts.map(\.itemID).contains(id), "\(other)")
        }
    }
}
