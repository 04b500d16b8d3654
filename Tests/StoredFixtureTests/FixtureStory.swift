import DatasyncEmulator
import EmulatorTransport
import Foundation
import SealedSync
import Synchronization
import Testing

/// What happens to every fixture before it is committed: an app that has pulled, changed, pushed, and met all that can
/// go wrong.
enum FixtureStory {
    static let paper = TableDefinition(
        "Paper",
        columns: [
            .init("text", .string, isSearchable: true), .init("done", .bool), .init("count", .int64),
            .init("weight", .double), .init("price", .decimal), .init("due", .date), .init("photo", .bytes),
            .init("tags", .json),
        ],
        indexes: [["due"]]
    )
    static let label = TableDefinition(
        "Label",
        columns: [.init("name", .string)],
        idComparison: .asciiCaseInsensitive
    )
    static let schema = try! StoreSchema([paper, label])

    /// The app's first version: it declared a column that is gone since.
    static let firstSchema = try! StoreSchema([
        paper,
        TableDefinition(
            "Label",
            columns: [.init("name", .string), .init("color", .string)],
            idComparison: .asciiCaseInsensitive
        ),
    ])

    /// A server for stores of which nothing but their content is asked.
    static var unreachable: DatasyncRemote { get throws { try remote(Emulator(configuration)) } }

    static func remote(_ emulator: Emulator) throws -> DatasyncRemote {
        try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator)
        )
    }

    /// An empty server. Its clock stands still, so that its stamps rise by a millisecond, and its versions count up.
    static var configuration: EmulatorConfiguration {
        var configuration = EmulatorConfiguration(tables: ["Paper", "Label"])
        configuration.clock = { 1_772_000_000_000 }
        let count = Counter()
        configuration.randomBytes = { bytes in
            let number = count.next()
            return (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 & 3))) }
        }
        return configuration
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock {
                $0 += 1
                return $0
            }
        }
    }

    // MARK: The server

    /// Rows that were there before the app. The table has columns there that the app does not declare.
    static let serverRows: [[String: JSONValue]] = [
        [
            "id": "synced-everything", "text": "Купить чай и молоко", "done": true, "count": 9_007_199_254_740_993,
            "weight": 0.1, "price": 1.25, "due": "2026-03-01T10:20:30.1234567Z", "photo": "AAECAwT//g==",
            "tags": ["дом", ["глубина": [1, 2.5, nil, true]]],
            "nickname": "ёж", "rating": 4.5, "seen": nil, "pinned": true, "origin": ["city": "Łódź", "zip": "90-001"],
        ],
        ["id": "synced-nulls", "text": nil, "done": nil, "count": nil, "due": nil, "tags": nil, "nickname": nil],
        ["id": "synced-пусто", "text": "", "photo": "", "tags": "", "price": 0, "weight": -0.5],
        ["id": "update", "text": "before", "done": false, "nickname": "stays"],
        ["id": "delete", "text": "goes", "price": 12.5, "nickname": "went along"],
        ["id": "accepted", "text": "before"],
        ["id": "conflict-update", "text": "before", "nickname": "theirs"],
        ["id": "conflict-update-pulled", "text": "before"],
        ["id": "conflict-delete", "text": "before"],
        ["id": "conflict-tombstone", "text": "before"],
        ["id": "restored", "text": "before"],
        ["id": "given-up", "text": "before"],
        ["id": "refused-update", "text": "before"],
        ["id": "refused-delete", "text": "before"],
    ]

    /// The server as the app met it first.
    static func makeServer() throws -> Emulator {
        let emulator = Emulator(configuration)
        try emulator.seed(serverRows, in: "Paper")
        try emulator.seed([["id": "label-one", "name": "первая", "color": "красный"]], in: "Label")
        return emulator
    }

    // MARK: The app

    /// Fills a new store of the first schema: everything but what waits without having been sent.
    static func begin(_ store: EncryptedStore, _ emulator: Emulator) async throws {
        let context = SyncContext(store: store, remote: try remote(emulator))
        let papers = try context.table("Paper")
        try await papers.pull(queryID: "all")
        try await papers.pull(queryID: "открытые", where: Column("done") == false)
        try await context.table("Label").pull(queryID: "labels")
        try await papers.update(Record(id: "accepted", ["text": "принято"]))
        #expect(try await context.push().pushed == 1)

        try await meetConflicts(context, papers, emulator)
        try await meetRefusals(context, papers, emulator)
        try await loseAnAnswer(context, papers, emulator)

        let errors = try await context.operationErrors()
        let restored = try #require(errors.first { $0.itemID == "restored" })
        let givenUp = try #require(errors.first { $0.itemID == "given-up" })
        try await context.resolve(restored, with: .keepMine)
        try await context.resolve(givenUp, with: .discard)
    }

    private static func meetConflicts(_ context: SyncContext, _ papers: SyncTable<Record>, _ emulator: Emulator)
        async throws
    {
        for id in ["conflict-update", "conflict-update-pulled", "conflict-tombstone", "restored", "given-up"] {
            try await papers.update(Record(id: .string(id), ["text": "моё"]))
        }
        try await papers.delete("conflict-delete")
        try emulator.seed(
            [
                ["id": "conflict-update", "text": "theirs", "nickname": "theirs, changed"],
                ["id": "conflict-update-pulled", "text": "theirs"],
                ["id": "conflict-delete", "text": "theirs"],
                ["id": "conflict-tombstone", "text": "before", "deleted": true],
                ["id": "restored", "text": "before", "deleted": true],
                ["id": "given-up", "text": "theirs"],
            ],
            in: "Paper"
        )
        #expect(try await context.push().conflicts.count == 6)
        // A pull brings a row that is newer than the one the conflict was found with.
        try emulator.seed([["id": "conflict-update-pulled", "text": "theirs, newer"]], in: "Paper")
        #expect(try await papers.pull(queryID: "all").push == nil)
    }

    private static func meetRefusals(_ context: SyncContext, _ papers: SyncTable<Record>, _ emulator: Emulator)
        async throws
    {
        try await papers.insert(["text": "не принят", "price": .decimal(decimal("1.10"))], id: "refused-insert")
        try await papers.update(Record(id: "refused-update", ["text": "отказано"]))
        try await papers.delete("refused-delete")
        emulator.inject(.respond(EmulatorResponse(400), times: 3))
        #expect(try await context.push().failures.count == 3)
    }

    /// The server takes a row, and the device does not learn of it, and changes it.
    private static func loseAnAnswer(_ context: SyncContext, _ papers: SyncTable<Record>, _ emulator: Emulator)
        async throws
    {
        try await papers.insert(["text": "first"], id: "lost-answer")
        emulator.inject(.respond(EmulatorResponse(400), times: 3))
        emulator.inject(.applyThenDrop())
        await #expect(throws: SyncError.self) { _ = try await context.push() }
        emulator.clearFaults()
        try await papers.update(Record(id: "lost-answer", ["text": "ответ потерян"]))
    }

    /// Changes that wait and were never sent, made under the second schema.
    static func end(_ store: EncryptedStore) async throws {
        let context = SyncContext(store: store, remote: try unreachable)
        let papers = try context.table("Paper")
        try await papers.insert(everything, id: "insert")
        try await papers.update(
            Record(id: "update", ["text": "Ёлка в Łodzi", "done": true, "price": .decimal(decimal("0.30"))])
        )
        try await papers.delete("delete")
        let labels = try context.table("Label")
        try await labels.insert(["name": "вторая"], id: "Label-Two")
        try await labels.update(Record(id: "LABEL-ONE", ["name": "первая, изменена"]))
    }

    /// What the process that is killed does after opening the closed store again.
    static func beforeTheKill(_ store: EncryptedStore) async throws {
        let context = SyncContext(store: store, remote: try unreachable)
        let papers = try context.table("Paper")
        try await papers.insert(["text": "чай перед сбоем"], id: "killed-insert")
        try await papers.update(Record(id: "synced-everything", ["text": "Молоко, чай", "done": false]))
        try await papers.delete("synced-nulls")
        // The same rows once more: what is in the log is not one change only.
        try await papers.update(Record(id: "killed-insert", ["text": "чай и молоко перед сбоем"]))
    }

    /// A value of every kind, each at an edge.
    static var everything: [String: FieldValue] {
        get throws {
            [
                "text": "Чай, молоко; сахар\u{0}конец e\u{301}é", "done": true, "count": .int64(.min),
                "weight": .double(.leastNonzeroMagnitude),
                "price": .decimal(try decimal("-0.10000000000000000000000000010")),
                "due": .date(try #require(Timestamp("1969-12-31T23:59:59.9999999+03:00"))),
                "photo": .bytes([0, 255, 1, 254]),
                "tags": .json(try #require(JSONText(#"{ "b":[1.10, {"я":null}], "a" : "\u0447ай" }"#))),
            ]
        }
    }

    private static func decimal(_ text: String) throws -> DecimalText { try #require(DecimalText(text)) }

    // MARK: What arrives

    /// What the server has of the changed rows in the end, when every conflict is settled in favour of the device.
    static func arrived(killed: Bool) -> JSONValue {
        var papers: [String: JSONValue] = [
            "insert": [
                "text": "Чай, молоко; сахар\u{0}конец e\u{301}é", "done": true, "count": .integer(.min),
                "weight": .double(.leastNonzeroMagnitude), "price": -0.1, "due": "1969-12-31T23:59:59.9999999+03:00",
                "photo": "AP8B/g==", "tags": ["a": "чай", "b": [1.1, ["я": nil]]], "deleted": false,
            ],
            "update": [
                "text": "Ёлка в Łodzi", "done": true, "price": 0.3, "nickname": "stays", "deleted": false,
            ],
            "delete": ["deleted": true],
            "accepted": ["text": "принято"],
            "conflict-update": ["text": "моё", "nickname": "theirs, changed", "deleted": false],
            "conflict-update-pulled": ["text": "моё", "deleted": false],
            "conflict-delete": ["deleted": true],
            "conflict-tombstone": ["text": "моё", "deleted": false],
            "restored": ["text": "моё", "deleted": false],
            "given-up": ["text": "theirs", "deleted": false],
            "refused-insert": ["text": "не принят", "price": 1.1, "deleted": false],
            "refused-update": ["text": "отказано", "deleted": false],
            "refused-delete": ["deleted": true],
            "lost-answer": ["text": "ответ потерян", "deleted": false],
        ]
        if killed {
            papers["killed-insert"] = ["text": "чай и молоко перед сбоем", "deleted": false]
            papers["synced-everything"] = [
                "text": "Молоко, чай", "done": false, "count": 9_007_199_254_740_993,
                "due": "2026-03-01T10:20:30.1234567Z", "nickname": "ёж", "rating": 4.5, "pinned": true,
                "origin": ["city": "Łódź", "zip": "90-001"], "deleted": false,
            ]
            papers["synced-nulls"] = ["deleted": true]
        }
        let labels: JSONValue = [
            "label-one": ["name": "первая, изменена", "color": "красный", "deleted": false],
            "Label-Two": ["name": "вторая", "deleted": false],
        ]
        return ["Paper": .object(papers), "Label": labels]
    }
}
