import DatasyncHTTP
import OfflineSync
import ReferenceStore
import SyncContract
import Testing

@Suite("Deleting a row to which others refer")
struct DeletionRuleTests {
    private static let tables = [
        TableDefinition("Customer", columns: [.init("text", .string)]),
        TableDefinition(
            "Invoice",
            columns: [
                .init("text", .string), .init("customer", .string, references: "Customer", onDelete: .cascade),
            ]
        ),
        TableDefinition(
            "Line",
            columns: [
                .init("text", .string), .init("invoice", .string, references: "Invoice", onDelete: .cascade),
                .init("customer", .string, references: "Customer", onDelete: .cascade),
            ]
        ),
        TableDefinition(
            "Note",
            columns: [
                .init("text", .string), .init("customer", .string, references: "Customer", onDelete: .nullify),
                .init("line", .string, references: "Line"),
            ]
        ),
        TableDefinition(
            "Folder",
            columns: [
                .init("text", .string), .init("parent", .string, references: "Folder", onDelete: .cascade),
                .init("note", .string, references: "Note", onDelete: .nullify),
            ]
        ),
    ]

    private let server = GroupServer()
    private let store: MemoryStore
    private let context: SyncContext

    init() throws {
        store = MemoryStore(try StoreSchema(Self.tables))
        context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: 4))
    }

    private func insert(_ id: String, _ table: String, _ fields: [String: FieldValue] = [:]) async throws {
        var fields = fields
        fields["text"] = .string(id)
        try await context.table(table).insert(fields, id: id)
    }

    private func insertOrders() async throws {
        try await insert("ann", "Customer")
        try await insert("bob", "Customer")
        for number in 1...2 {
            try await insert("invoice\(number)", "Invoice", ["customer": "ann"])
            try await insert("line\(number)", "Line", ["invoice": .string("invoice\(number)"), "customer": "ann"])
        }
        try await insert("invoice3", "Invoice", ["customer": "bob"])
        try await insert("note", "Note", ["customer": "ann", "line": "line1"])
        #expect(try await context.push().pushed == 8)
    }

    private func ids(_ table: String) async throws -> [String] {
        try await store.read(Query(table).ordered(by: "id")).records.compactMap(\.id.stringValue)
    }

    @Test(
        "deletes, clears or leaves those as their columns say, and sends the referring ones first",
        arguments: [true, false]
    )
    func cascade(_ isEdited: Bool) async throws {
        try await insertOrders()
        // Its operation is older than those of all that have to go before it.
        if isEdited { try await context.table("Customer").update(Record(id: "ann", ["text": "Ann"])) }
        let before = server.begun.count
        try await context.table("Customer").delete("ann")
        #expect(try await ids("Customer") == ["bob"])
        #expect(try await ids("Invoice") == ["invoice3"])
        #expect(try await ids("Line").isEmpty)
        let note = try #require(try await store.read(table: "Note", itemID: "note"))
        #expect(note["customer"] == .null && note["line"] == "line1")
        #expect(try await store.verifyQueue().isEmpty)
        #expect(try await context.push().pushed == 6)
        let begun = Array(server.begun[before...])
        #expect(begun.count == 6 && begun.last == "ann" && begun.first == "note")
        for number in 1...2 {
            let (line, invoice) = (begun.firstIndex(of: "line\(number)"), begun.firstIndex(of: "invoice\(number)"))
            #expect(try #require(line) < #require(invoice))
        }
    }

    @Test("with others of a query passes over those that have gone with one of these")
    func ofQuery() async throws {
        // In whichever order they are deleted, one child comes behind its parent.
        for (id, parent) in [("b", nil), ("a", "b"), ("c", nil), ("d", "c")] as [(String, String?)] {
            try await insert(id, "Folder", parent.map { ["parent": .string($0)] } ?? [:])
        }
        #expect(try await context.push().pushed == 4)
        let count = try await context.write { try $0.delete(Query("Folder")) }
        #expect(count == 4)
        #expect(try await ids("Folder").isEmpty)
        #expect(try await context.push().pushed == 4)
        #expect(server.texts.isEmpty)
    }

    @Test("has the same consequences where a conflict is settled by it", arguments: [true, false], [true, false])
    func deletedInstead(isDecidedAtOnce: Bool, isDeletedThere: Bool) async throws {
        try await insertOrders()
        if isDecidedAtOnce { context.conflictPolicy = .merge { _ in .deleteInstead } }
        server.change("ann", "theirs", isDeletedThere ? ["deleted": true] : [:])
        try await context.table("Customer").update(Record(id: "ann", ["text": "Ann"]))
        let before = server.begun.count
        var report = try await context.push()
        if !isDecidedAtOnce {
            try await context.resolve(try #require(report.conflicts.first), with: .deleteInstead)
        } else {
            #expect(report.notTaken.isEmpty && report.waiting == (isDeletedThere ? 0 : 1))
        }
        #expect(try await ids("Customer") == ["bob"])
        #expect(try await ids("Invoice") == ["invoice3"])
        #expect(try await ids("Line").isEmpty)
        let note = try #require(try await store.read(table: "Note", itemID: "note"))
        #expect(note["customer"] == .null && note["line"] == "line1")
        #expect(try await store.verifyQueue().isEmpty)
        let groups = Set(try await context.operations().map(\.groups))
        #expect(groups.count == 1 && groups.first?.count == 1)
        report = try await context.push()
        #expect(report.notTaken.isEmpty && report.waiting == 0)
        #expect(server.texts.keys.sorted() == ["bob", "invoice3", "note"])
        let changed = server.begun[before...].dropFirst()
        #expect(changed.count == (isDeletedThere ? 5 : 6) && changed.first == "note")
        if !isDeletedThere { #expect(changed.last == "ann") }
        #expect(try await context.operations().isEmpty)
    }

    @Test("is refused as a whole, or done as a whole")
    func refusal() async throws {
        try await insertOrders()
        try await context.table("Customer").delete("ann")
        let waiting = try await context.operations()
        let code = try await syncErrorCode { try await context.table("Customer").delete("ann") }
        #expect(code == .invalidAction)
        #expect(try await context.operations() == waiting)
        await #expect(throws: SyncError.self) {
            try await context.write { tx in
                try tx.delete("bob", from: context.table("Customer"))
                throw SyncError(.invalidParameter, "planned")
            }
        }
        #expect(try await ids("Invoice") == ["invoice3"])
    }

    @Test("ends in circles and long chains; a query deletes each row once")
    func circles() async throws {
        let folders = try context.table("Folder")
        let count = 1_000
        try await context.write { tx in
            for number in 0..<count {
                let parent = FieldValue.string("f\(number == 0 ? count - 1 : number - 1)")
                try tx.insert(["text": "f", "parent": parent], id: "f\(number)", into: folders)
            }
            try tx.insert(["text": "self", "parent": "self"], id: "self", into: folders)
            try tx.insert(["text": "other"], id: "other", into: folders)
        }
        try await folders.delete("self")
        try await folders.delete("f7")
        #expect(try await ids("Folder") == ["other"])
        #expect(try await context.operations().count == 1)
        try await insert("a", "Folder")
        try await insert("b", "Folder", ["parent": "a"])
        _ = try await context.write { try $0.delete(Query("Folder")) }
        #expect(try await ids("Folder").isEmpty)
    }

    @Test("is taken back row by row")
    func undo() async throws {
        try await insertOrders()
        try await context.table("Customer").delete("ann")
        try await context.table("Customer").undoDelete("ann")
        #expect(try await ids("Customer") == ["ann", "bob"])
        #expect(try await ids("Invoice") == ["invoice3"])
        try await context.table("Invoice").undoDelete("invoice1")
        try await context.table("Line").undoDelete("line1")
        #expect(try await ids("Invoice") == ["invoice1", "invoice3"])
        #expect(try await ids("Line") == ["line1"])
        #expect(try await store.verifyQueue().isEmpty)
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.texts.keys.sorted() == ["ann", "bob", "invoice1", "invoice3", "line1", "note"])
    }

    @Test("changes nothing of a row that one column deletes and another one clears: taken back, it is as it was")
    func deletedAndCleared() async throws {
        let ticket = TableDefinition(
            "Ticket",
            columns: [
                .init("text", .string), .init("contact", .string, references: "Customer", onDelete: .nullify),
                .init("customer", .string, references: "Customer", onDelete: .cascade),
            ]
        )
        let store = MemoryStore(try StoreSchema([Self.tables[0], ticket]))
        let context = SyncContext(store: store, remote: server)
        let (customers, tickets) = (try context.table("Customer"), try context.table("Ticket"))
        try await customers.insert(["text": "Ann"], id: "ann")
        try await tickets.insert(["text": "hers", "contact": "ann", "customer": "ann"], id: "t")
        #expect(try await context.push().pushed == 2)
        try await customers.delete("ann")
        #expect(try await tickets.read("t") == nil)
        for (table, id) in [(customers, "ann"), (tickets, "t")] { try await table.undoDelete(id) }
        #expect(try await tickets.read("t")?["contact"] == "ann")
        #expect(try await context.operations().isEmpty)
    }

    @Test(
        "deletes those that name it in upper case, or in lower case, where its table ignores that",
        arguments: [("ann", "ANN"), ("ANN", "ann")]
    )
    func otherCase(_ id: String, _ name: String) async throws {
        let customer = TableDefinition(
            "Customer",
            columns: [.init("text", .string)],
            idComparison: .asciiCaseInsensitive
        )
        let store = MemoryStore(try StoreSchema([customer, Self.tables[1]]))
        let context = SyncContext(store: store, remote: server)
        let invoices = try context.table("Invoice")
        try await context.table("Customer").insert(["text": "Ann"], id: id)
        try await invoices.insert(["text": "hers", "customer": .string(name)], id: "i")
        try await invoices.insert(["text": "of somebody else", "customer": "bob"], id: "o")
        try await context.table("Customer").delete(id)
        #expect(try await store.read(Query("Invoice")).records.map(\.id) == ["o"])
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("by the server has no consequences here")
    func pulled() async throws {
        try await SyncWorld.with(.datasync) { world in
            let tables = [
                TableDefinition("TodoItem", columns: todoTable.columns),
                TableDefinition("Part", columns: [.init("item", .string, references: "TodoItem", onDelete: .cascade)]),
            ]
            let store = MemoryStore(try StoreSchema(tables))
            let context = SyncContext(store: store, remote: world.laptop.server)
            try await world.phone.table.insert(["text": "milk"], id: "a")
            _ = try await world.phone.context.push()
            let items = try context.table("TodoItem")
            try await items.pull(queryID: "all")
            try await store.upsert([Record(id: "p", ["item": "a"])], table: "Part")
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            try await items.pull(queryID: "all")
            #expect(try await items.read("a") == nil)
            #expect(try await store.read(table: "Part", itemID: "p")?["item"] == "a")
            #expect(try await context.operations().isEmpty)
        }
    }

    @Test("wants a column that refers to a table")
    func declaration() {
        #expect(throws: StoreError.self) {
            try StoreSchema([TableDefinition("t", columns: [.init("a", .string, onDelete: .cascade)])])
        }
    }
}
