import DatasyncEmulator
import OfflineSync
import SyncContract
import Testing

@Suite("A migration that gives tables and columns other names than the server's")
struct WireNamedMigrationTests {
    /// The second version has names of its own, and the server keeps its names.
    private static func renamed() throws -> StoreSchema {
        try StoreSchema(
            version: 2,
            [
                TableDefinition(
                    "Invoice",
                    columns: [
                        .init("title", .string, wireName: "text"), .init("amount", .decimal, wireName: "price"),
                        .init("paid", .bool), .init("memo", .string, isLocal: true),
                    ],
                    wireName: "Bill"
                )
            ],
            migrations: [
                Migration(
                    to: 2,
                    .renameTable("Bill", to: "Invoice"),
                    .renameColumn("text", to: "title", in: "Invoice"),
                    .renameColumn("price", to: "amount", in: "Invoice"),
                    .convertColumn("amount", in: "Invoice") { _ in .decimal(DecimalText("5.0999999999999996")!) }
                )
            ]
        )
    }

    @Test(
        "finds what was sent before it, as the server has it",
        arguments: MigrationWorld.Kind.allCases,
        [true, false]
    )
    func lostAnswer(_ kind: MigrationWorld.Kind, _ isInsert: Bool) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(MigrationWorld.schema(1))
        let bills = try app.table("Bill")
        if isInsert {
            try await bills.insert(["text": "sent", "price": 5.1], id: "a")
        } else {
            try await bills.insert(["text": "before", "price": 5.1], id: "a")
            #expect(try await app.context.push().pushed == 1)
            try await bills.update(Record(id: "a", ["text": "sent"]))
        }
        app.server.intercept(.answerLost)
        #expect(try await syncErrorCode { _ = try await app.context.push() } == .pushAbortedNetwork)
        #expect(world.onServer("Bill")["a"]?["text"]?.string == "sent")

        app = try await world.update(app, to: Self.renamed())
        let invoices = try app.table("Invoice")
        try await invoices.update(Record(id: "a", ["title": "edited"]))
        #expect(try await app.context.operations().map(\.isAttempted) == [true])
        let report = try await app.context.push()
        #expect(report.conflicts.isEmpty && report.notTaken.isEmpty)
        #expect(world.onServer("Bill").mapValues { $0["text"]?.string } == ["a": "edited"])
        #expect(world.onServer("Invoice").isEmpty)
        #expect(try await app.context.operations().isEmpty)
        #expect(try await app.store.verifyQueue().isEmpty)
    }

    @Test("meets what somebody else has written as a conflict", arguments: MigrationWorld.Kind.allCases)
    func conflict(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(MigrationWorld.schema(1))
        let bills = try app.table("Bill")
        try await bills.insert(["text": "before", "price": 5.1], id: "a")
        #expect(try await app.context.push().pushed == 1)
        try await bills.update(Record(id: "a", ["text": "sent"]))
        app.server.intercept(.answerLost)
        #expect(try await syncErrorCode { _ = try await app.context.push() } == .pushAbortedNetwork)
        var row = try #require(world.onServer("Bill")["a"])
        row["text"] = "theirs"
        try world.emulator.seed([row], in: "Bill")
        app = try await world.update(app, to: Self.renamed())
        #expect(try await app.context.push().conflicts.count == 1)
        let error = try #require(try await app.context.operationErrors().first)
        #expect(error.item?["title"] == "sent" && error.serverItem?["title"] == "theirs")
    }

    /// What the server was asked since the last time, without its instants.
    private static func asked(_ world: MigrationWorld) -> [String] {
        defer { world.emulator.clearRequests() }
        return world.emulator.requests.map { String($0.request.query.filter { !$0.isNumber }) }
    }

    @Test("leaves pulls where they were, and columns shown", arguments: MigrationWorld.Kind.allCases)
    func pulls(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        try world.emulator.seed(
            [["id": "a", "text": "first", "price": 5.1, "paid": true], ["id": "b", "paid": true]],
            in: "Bill"
        )
        var app = try await world.start(MigrationWorld.schema(1))
        let before = try app.table("Bill").query.filtered(by: Column("paid") == true && Column("text") != "none")
        #expect(try await app.context.pull(before).received == 2)
        #expect(try await app.context.status().unshownColumns.isEmpty)
        let first = Self.asked(world)
        _ = try await app.context.pull(before)
        let next = Self.asked(world)
        #expect(first != next)

        app = try await world.update(app, to: Self.renamed())
        #expect(try await app.context.status().unshownColumns.isEmpty)
        let after = try app.table("Invoice").query.filtered(by: Column("paid") == true && Column("title") != "none")
        _ = try await app.context.pull(after)
        #expect(Self.asked(world) == next, "it goes on where it was, with the same words")
        #expect(try await app.table("Invoice").read("a")?["title"] == "first")
        // Shown before the migration: what is absent now is null.
        try world.emulator.seed([["id": "a", "price": 5.1, "paid": true]], in: "Bill")
        _ = try await app.table("Invoice").pull(options: .init(reconciles: true))
        #expect(try await app.table("Invoice").read("a")?["title"]?.isNull ?? true)
    }

    /// What the second version makes of a name that the server uses for a column that is not declared here.
    enum Claim: CaseIterable {
        case renamed, dropped, taken, declared

        func schema() throws -> StoreSchema {
            var columns: [ColumnDefinition] = [.init("price", .double)]
            let step: MigrationStep
            switch self {
            case .renamed:
                columns += [.init("text", .string), .init("draft", .string, isLocal: true)]
                step = .renameColumn("memo", to: "draft", in: "Bill")
            case .dropped:
                columns += [.init("text", .string)]
                step = .dropColumn("memo", in: "Bill")
            case .taken:
                columns += [.init("title", .string, wireName: "text"), .init("memo", .string, isLocal: true)]
                step = .renameColumn("text", to: "title", in: "Bill")
            case .declared:
                columns += [.init("text", .string), .init("memo", .string), .init("draft", .string, isLocal: true)]
                step = .renameColumn("memo", to: "draft", in: "Bill")
            }
            return try StoreSchema(
                version: 2,
                [TableDefinition("Bill", columns: columns + [.init("paid", .bool)])],
                migrations: [Migration(to: 2, step)]
            )
        }
    }

    @Test(
        "leaves what the server has under a name that is free or taken here from then on",
        arguments: MigrationWorld.Kind.allCases,
        Claim.allCases
    )
    func claimedNames(_ kind: MigrationWorld.Kind, _ claim: Claim) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(MigrationWorld.schema(1))
        try world.emulator.seed(
            ["a", "b"].map { ["id": .string($0), "text": "t", "price": 1, "memo": "theirs", "title": "theirs too"] },
            in: "Bill"
        )
        var bills = try app.table("Bill")
        try await bills.pull()
        // Of both rows something is here, and the change of one waits.
        for id in ["a", "b"] { try await bills.update(Record(id: .string(id), ["memo": "mine"])) }
        try await bills.update(Record(id: "b", ["paid": true]))
        app = try await world.update(app, to: claim.schema())
        bills = try app.table("Bill")
        try await bills.update(Record(id: "a", ["paid": true]))
        let report = try await app.context.push()
        #expect(report.pushed == 2 && report.conflicts.isEmpty)
        for (id, row) in world.onServer("Bill") {
            #expect(row["memo"] == "theirs" && row["title"] == "theirs too" && row["text"] == "t", "\(id)")
            #expect(row["paid"] == .bool(true), "\(id)")
            #expect(!row.keys.contains { $0.contains("@") || $0 == "draft" }, "\(row.keys)")
            let local = try #require(try await bills.read(RecordID.string(id)))
            let kept = ["renamed": "draft", "declared": "draft", "taken": "memo"]["\(claim)"]
            #expect(kept.map { local[$0] == "mine" } ?? true)
            #expect(claim != .declared || local["memo"] == "theirs")
        }
        #expect(try await app.store.verifyQueue().isEmpty)
    }

    @Test("does not send what was here in a column that stays here no longer", arguments: MigrationWorld.Kind.allCases)
    func localNoLonger(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(MigrationWorld.schema(1))
        try world.emulator.seed(
            [
                ["id": "a", "text": "t", "memo": "theirs"], ["id": "b", "text": "t", "memo": "theirs"],
                ["id": "c", "text": "t"],
            ],
            in: "Bill"
        )
        var bills = try app.table("Bill")
        try await bills.pull()
        for id in ["a", "b", "c"] { try await bills.update(Record(id: .string(id), ["memo": "mine"])) }
        try await bills.update(Record(id: "b", ["text": "edited"]))
        try await bills.insert(["text": "new", "memo": "mine"], id: "n")
        let columns = MigrationWorld.bill.columns.filter { !$0.isLocal } + [ColumnDefinition("memo", .string)]
        app = try await world.update(app, to: StoreSchema([TableDefinition("Bill", columns: columns)]))
        bills = try app.table("Bill")
        for id in ["a", "c"] { try await bills.update(Record(id: .string(id), ["text": "edited"])) }
        let report = try await app.context.push()
        #expect(report.pushed == 4 && report.conflicts.isEmpty)
        let expected = ["a": "theirs", "b": "theirs", "n": "mine"]
        #expect(world.onServer("Bill").compactMapValues { $0["memo"]?.string } == expected)
        try await bills.pull()
        for id in ["a", "b", "c", "n"] {
            #expect(try await bills.read(RecordID.string(id))?["memo"]?.stringValue == expected[id], "\(id)")
        }
        #expect(try await app.store.verifyQueue().isEmpty)
    }

    @Test("knows a column that stayed here by its new name", arguments: MigrationWorld.Kind.allCases)
    func localNoLongerRenamed(_ kind: MigrationWorld.Kind) async throws {
        let world = try MigrationWorld(kind)
        var app = try await world.start(MigrationWorld.schema(1))
        try world.emulator.seed([["id": "a", "text": "t", "note": "theirs"]], in: "Bill")
        var bills = try app.table("Bill")
        try await bills.pull()
        try await bills.update(Record(id: "a", ["memo": "mine"]))
        let columns = MigrationWorld.bill.columns.filter { !$0.isLocal } + [ColumnDefinition("note", .string)]
        let schema = try StoreSchema(
            version: 2,
            [TableDefinition("Bill", columns: columns)],
            migrations: [Migration(to: 2, .renameColumn("memo", to: "note", in: "Bill"))]
        )
        app = try await world.update(app, to: schema)
        bills = try app.table("Bill")
        try await app.context.followDeclarations()
        #expect(try await bills.read("a")?["note"]?.stringValue == nil)
        let cursors = Query("MS_TableConfig").filtered(by: Column("keyType") == 0)
        #expect(try await app.store.read(cursors).records.isEmpty, "all of its rows are asked for")
        try await bills.pull()
        #expect(try await bills.read("a")?["note"] == "theirs")
    }
}
