import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("Tables and columns that the server calls otherwise")
struct WireNameTests {
    /// The server's table as another app has it: two names mean each other, and one that the server has is taken here.
    static let note = TableDefinition(
        "Note",
        columns: [
            .init("complete", .string, wireName: "text"), .init("text", .bool, wireName: "complete"),
            .init("when", .date, wireName: "due"), .init("extra", .string, isLocal: true),
        ],
        wireName: "TodoItem"
    )

    private func world(_ dialect: DatasyncDialect, _ body: (SyncWorld, SyncWorld.Device) async throws -> Void)
        async throws
    {
        try await SyncWorld.with(dialect, laptopTable: Self.note) { try await body($0, $0.laptop) }
    }

    @Test("are sent by the server's names, and come under those of here", arguments: DatasyncDialect.allCases)
    func both(_ dialect: DatasyncDialect) async throws {
        try await world(dialect) { world, laptop in
            try await laptop.table.insert(["complete": "milk", "text": true, "extra": "mine"], id: "a")
            try await laptop.table.update(Record(id: "a", ["when": .date(Timestamp("2026-11-22T00:00:00Z")!)]))
            #expect(try await laptop.context.push().pushed == 1)
            var row = try #require(world.emulator.rows(in: "TodoItem").first)
            #expect(row["text"] == "milk" && row["complete"] == .bool(true) && row["due"]?.string != nil)
            #expect(row["when"] == nil && row["extra"] == nil)

            row["text"] = "bread"
            row["extra"] = "theirs"
            try world.emulator.seed([row], in: "TodoItem")
            #expect(try await laptop.pull().received == 1)
            let local = try #require(try await laptop.table.read("a"))
            #expect(local["complete"] == "bread" && local["text"] == true && local["extra"] == "mine")
            #expect(try await laptop.context.status().unshownColumns.isEmpty)

            try await laptop.table.update(Record(id: "a", ["text": false]))
            #expect(try await laptop.context.push().pushed == 1)
            row = try #require(world.emulator.rows(in: "TodoItem").first)
            #expect(row["complete"] == .bool(false) && row["text"] == "bread" && row["extra"] == "theirs")
            try await laptop.table.delete("a")
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer().isEmpty)
        }
    }

    @Test("are asked for by the server's names", arguments: DatasyncDialect.allCases)
    func conditions(_ dialect: DatasyncDialect) async throws {
        try await world(dialect) { world, laptop in
            try world.emulator.seed(
                [
                    ["id": "a", "text": "milk", "complete": true], ["id": "b", "text": "bread", "complete": true],
                    ["id": "c", "text": "milk", "complete": false],
                ],
                in: "TodoItem"
            )
            let condition: QueryPredicate =
                Column("complete").lowercased.isAny(of: ["milk"]) && !(Column("text") == false)
            try await laptop.table.pull(where: condition)
            #expect(try await laptop.texts() == ["a": "milk"])
            #expect(try await laptop.table.pull(where: condition, options: .init(reconciles: true)).deleted == 0)
        }
    }

    @Test("meet conflicts in the names of here", arguments: DatasyncDialect.allCases)
    func conflicts(_ dialect: DatasyncDialect) async throws {
        try await world(dialect) { world, laptop in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await laptop.table.update(Record(id: "a", ["complete": "mine"]))
            #expect(try await laptop.context.push().conflicts.count == 1)
            let error = try await laptop.onlyError()
            #expect(error.table == "Note" && error.item?["complete"] == "mine")
            #expect(error.serverItem?["complete"] == "theirs" && error.serverItem?["text"] == false)
            try await laptop.context.resolve(error, with: .keepMerged(Record(id: "a", ["complete": "both"])))
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["a": "both"])

            try await world.phone.pull()
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            try await laptop.table.update(Record(id: "a", ["complete": "again"]))
            #expect(try await laptop.context.push().conflicts.count == 1)
            let deleted = try await laptop.onlyError()
            #expect(deleted.isDeletedOnServer)
            try await laptop.context.resolve(deleted, with: .keepMine)
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["a": "again"])
        }
    }

    @Test("are named by both names when something is wrong with them")
    func messages() async throws {
        try await world(.datasync) { world, laptop in
            try world.emulator.seed([["id": "a", "text": "milk", "due": "soon"]], in: "TodoItem")
            let report = try await laptop.pull()
            let reason = try #require(report.setAside.first?.reason)
            #expect(reason.contains("'when' ('due' on the server)"), "\(reason)")
        }
    }

    @Test("keep what came under the server's name before they were declared", arguments: DatasyncDialect.allCases)
    func declaredLater(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let phone = world.phone
            try world.emulator.seed([["id": "a", "text": "milk", "remark": "theirs"]], in: "TodoItem")
            try await phone.pull()
            #expect(try await phone.table.read("a")?["remark"] == "theirs")
            let table = TableDefinition(
                "TodoItem",
                columns: todoTable.columns + [.init("comment", .string, wireName: "remark")],
                idComparison: phone.table.definition.idComparison
            )
            let store = try await phone.store.reopened(with: try StoreSchema([table]))
            let context = SyncContext(store: store, remote: phone.server)
            let todos = try context.table("TodoItem")
            try await todos.update(Record(id: "a", ["text": "bread"]))
            #expect(try await context.push().pushed == 1)
            let row = world.emulator.rows(in: "TodoItem").first
            #expect(row?["text"] == "bread" && row?["remark"] == "theirs" && row?["comment"] == nil)

            try await todos.pull(options: .init(reconciles: true))
            let local = try #require(try await todos.read("a"))
            #expect(local["comment"] == "theirs" && local["remark"] == nil)
            try await todos.update(Record(id: "a", ["comment": .null]))
            #expect(try await context.push().pushed == 1)
            #expect(world.emulator.rows(in: "TodoItem").first?["remark"]?.string == nil)
        }
    }

    @Test("work online, and what stays here cannot be asked for", arguments: DatasyncDialect.allCases)
    func online(_ dialect: DatasyncDialect) async throws {
        let world = try OnlineWorld(dialect == .datasync ? .datasync : .node, pageSize: 2)
        let table = try world.context.remoteTable(Self.note)
        for number in 1...5 {
            let fields: [String: FieldValue] = ["complete": .string("t\(number)"), "text": .bool(number > 2)]
            #expect(try await table.insert(fields, id: "i\(number)")["complete"] == .string("t\(number)"))
        }
        #expect(world.emulator.rows(in: "TodoItem").compactMap { $0["text"]?.string }.count == 5)
        let done = table.query.filtered(by: Column("text") == true).ordered(by: "complete", .descending)
            .selecting(["complete", "version"])
        #expect(try await table.read(done).compactMap { $0["complete"]?.stringValue } == ["t5", "t4", "t3"])
        #expect(try await table.count(done) == 3)

        let patched = try await table.patch("i1", ["complete": "patched"])
        #expect(patched["complete"] == "patched" && patched["text"] == false)
        var stale = try #require(try await table.read("i1"))
        stale["version"] = "old"
        stale["extra"] = "mine"
        let conflict = await #expect(throws: RemoteError.self) { try await table.update(stale) }
        #expect(conflict?.serverRecord?["complete"] == "patched")
        #expect(conflict?.message.contains("table 'Note' ('TodoItem' on the server)") == true)
        try await table.delete("i1")
        #expect(try await table.undelete("i1")["complete"] == "patched")

        let local: [() async throws -> Void] = [
            { _ = try await table.read(table.query.filtered(by: Column("extra") == "x")) },
            { _ = try await table.read(table.query.ordered(by: "extra")) },
            { _ = try await table.read(table.query.selecting(["extra"])) },
            { _ = try await table.count(table.query.filtered(by: Column("extra") == "x")) },
            { _ = try await table.patch("i1", ["extra": "x"]) },
        ]
        for call in local { #expect(try await syncErrorCode(call) == .invalidParameter) }
        #expect(world.emulator.rows(in: "TodoItem").allSatisfy { $0["extra"] == nil })
    }

    @Test("hold references to rows whose ids the server chooses", arguments: DatasyncDialect.allCases)
    func references(_ dialect: DatasyncDialect) async throws {
        var configuration = EmulatorConfiguration(
            dialect: dialect == .datasync ? .datasync : .azureMobileApps,
            tables: ["clients", "bills"]
        )
        configuration.store.assignsIDs = true
        let emulator = Emulator(configuration)
        let comparison: IDComparison = dialect == .datasync ? .exact : .asciiCaseInsensitive
        let schema = try StoreSchema([
            TableDefinition(
                "Customer",
                columns: [.init("name", .string, wireName: "title")],
                idComparison: comparison,
                assignsIDs: true,
                wireName: "clients"
            ),
            TableDefinition(
                "Invoice",
                columns: [
                    .init("customer", .string, references: "Customer", onDelete: .cascade, wireName: "client"),
                    .init("client", .string, wireName: "memo"),
                ],
                idComparison: comparison,
                assignsIDs: true,
                wireName: "bills"
            ),
        ])
        let device = try SyncWorld.context(emulator, dialect, schema)
        let (customers, invoices) = (try device.table("Customer"), try device.table("Invoice"))
        try await customers.insert(["name": "Ann"], id: "ann")
        try await invoices.insert(["customer": "ann", "client": "text"], id: "one")
        #expect(try await device.push().pushed == 2)
        let bill = try #require(emulator.rows(in: "bills").first)
        let client = try #require(emulator.rows(in: "clients").first)
        #expect(bill["client"] == client["id"] && bill["memo"] == "text" && client["title"] == "Ann")
        #expect(bill["client"]?.string != "ann")

        let other = try SyncWorld.context(emulator, dialect, schema)
        #expect(try await other.sync().pull.received == 2)
        let row = try #require(try await other.table("Invoice").read(Query("Invoice")).records.first)
        let customer = try #require(try await other.table("Customer").read(Query("Customer")).records.first)
        #expect(row["customer"] == customer.id.fieldValue && row["client"] == "text" && customer["name"] == "Ann")
        let mine = Column("customer") == "ann"
        #expect(
            try await device.pull(Query("Invoice").filtered(by: mine), options: .init(reconciles: true)).deleted == 0
        )
        try await customers.delete("ann")
        #expect(try await device.push().pushed == 2)
        #expect((emulator.rows(in: "bills") + emulator.rows(in: "clients")).allSatisfy { $0["deleted"] == .bool(true) })
    }
}
