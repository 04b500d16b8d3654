import Foundation
import ItemCoding
import SyncContract
import Testing

@Suite("What an item type says about its table")
struct ItemDescriptionTests {
    enum Kind: String, Codable, CaseIterable, ColumnValue { case food, fuel }
    enum Rank: Int, Codable, ColumnValue {
        case low = 3
        case high
    }
    enum Mood: String, Codable, ColumnValue { case good, bad }
    enum Shape: Codable, CaseIterable { case round, square }
    struct Address: Codable {
        var street: String
        var numbers: [Int]
        var mood: Mood?
    }
    struct UserName: RawRepresentable, Codable, ColumnValue { var rawValue: String }

    struct Item: Codable, Identifiable, Sendable {
        var id = ""
        var text: String
        var complete = false
        var due: Date?
        var created: Date
        var count: Int
        var small: UInt8
        var price: Decimal
        var ratio: Double
        var share: Float?
        var kind: Kind
        var secondKind: Kind?
        var rank: Rank
        var mood: Mood?
        var shape: Shape
        var address: Address
        var home: Address?
        var tags: [String]
        var options: [String: Int]
        var owner: UUID
        var link: URL?
        var photo: Data
        var day: Day
        var time: TimeOfDay?
        var author: UserName
        var state = SyncState.synced
        var version: String?
        var updatedAt: Date?

        var isOpen: Bool { !complete }
        var isOverdue: Bool { due.map { $0 < created } ?? false }
        var currentMood: Mood? { mood ?? (complete ? .good : nil) }

        enum CodingKeys: String, CodingKey {
            case id
            case text = "title"
            case complete, due, created, count, small, price, ratio, share, kind, secondKind, rank, mood, shape, address
            case home, tags, options, owner, link, photo, day, time, author, state, version, updatedAt
        }
    }

    @Test("columns are the coding keys, with the types that hold the values")
    func columns() throws {
        let table = try TableDefinition(Item.self, named: "items")
        #expect(table.name == "items")
        let expected: [(String, ColumnType)] = [
            ("title", .string), ("complete", .bool), ("due", .date), ("created", .date), ("count", .int64),
            ("small", .int64), ("price", .decimal), ("ratio", .double), ("share", .double), ("kind", .string),
            ("secondKind", .string), ("rank", .int64), ("mood", .string), ("shape", .json), ("address", .json),
            ("home", .json), ("tags", .json), ("options", .json), ("owner", .string), ("link", .string),
            ("photo", .bytes), ("day", .string), ("time", .string), ("author", .string),
        ]
        #expect(table.columns.map(\.name) == expected.map(\.0))
        #expect(table.columns.map(\.type) == expected.map(\.1))
        #expect(table.systemProperties == [.createdAt, .updatedAt, .version])
        #expect(try TableDefinition(Item.self).name == "Item")
    }

    @Test("a key path of a stored property is its column, and of a computed one none")
    func keyPaths() {
        let columns = Columns<Item>()
        #expect(columns.text.name == "title")
        #expect(columns.complete.name == "complete")
        #expect([columns.due.name, columns.updatedAt.name] == ["due", "updatedAt"])
        #expect([columns.created.name, columns.photo.name, columns.id.name] == ["created", "photo", "id"])
        #expect([columns.count.name, columns.small.name, columns.rank.name] == ["count", "small", "rank"])
        #expect([columns.price.name, columns.ratio.name, columns.share.name] == ["price", "ratio", "share"])
        #expect([columns.kind.name, columns.secondKind.name, columns.mood.name] == ["kind", "secondKind", "mood"])
        #expect([columns.owner.name, columns.link.name, columns.author.name] == ["owner", "link", "author"])
        #expect([columns.day.name, columns.time.name, columns.version.name] == ["day", "time", "version"])
        #expect(columns.syncState.name == Column.syncState.name)
        #expect(columns["other", as: Int.self].name == "other")
        for computed in [columns.isOpen.name, columns.isOverdue.name, columns.currentMood.name] {
            #expect(computed.hasPrefix("\\"), "\(computed)")
        }
    }

    @Test("options are parts of the definition")
    func options() throws {
        struct List: Codable, Identifiable, Sendable { var id = "" }
        struct Task: Codable, Identifiable, Sendable {
            var id = ""
            var text: String
            var pinned: Bool
            var notes: [String]
            var listID: String?
            var due: Date
            enum CodingKeys: String, CodingKey {
                case id, text, pinned, notes, due
                case listID = "list_id"
            }
        }
        let table = try TableDefinition(
            Task.self,
            .local(\.pinned, \.notes),
            .searchable(\.text),
            .indexed(\.pinned, \.due),
            .indexed(\.text),
            .references(\.listID, List.self, named: "lists"),
            .assignsIDs,
            .idComparison(.asciiCaseInsensitive)
        )
        #expect(table.columns.filter(\.isLocal).map(\.name) == ["pinned", "notes"])
        #expect(table.columns.filter(\.isSearchable).map(\.name) == ["text"])
        #expect(table.columns.compactMap(\.references) == ["lists"])
        #expect(table.columns.first { $0.name == "list_id" }?.references == "lists")
        #expect(table.indexes == [["pinned", "due"], ["text"]])
        #expect(table.assignsIDs && table.idComparison == .asciiCaseInsensitive)
    }

    @Test("a key path that is no stored property is refused")
    func computedOption() throws {
        let error = #expect(throws: StoreError.self) { try TableDefinition(Item.self, .local(\.isOpen)) }
        #expect(error?.code == .invalidSchema && error?.message.contains("no stored property") == true)
    }

    struct Moody: Codable, Identifiable, Sendable {
        var id = ""
        var mood: Mood
    }

    /// Refuses what cannot be.
    struct Strict: Codable, Identifiable, Sendable {
        var id = ""
        var code: String
        var amount: Int

        enum CodingKeys: CodingKey { case id, code, amount }

        init(code: String, amount: Int) { (self.code, self.amount) = (code, amount) }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            code = try container.decode(String.self, forKey: .code)
            amount = try container.decode(Int.self, forKey: .amount)
            guard code.hasPrefix("C") else {
                throw DecodingError.dataCorruptedError(forKey: .code, in: container, debugDescription: "no code")
            }
        }
    }

    @Test("a type that takes nothing made up is an error with the property and the remedy, and an example mends it")
    func examples() throws {
        struct Unknown: Codable, Identifiable, Sendable {
            var id = ""
            var text: String
            var mood: Mood
        }
        let error = #expect(throws: StoreError.self) { try TableDefinition(Unknown.self) }
        #expect(error?.code == .invalidSchema)
        for part in ["'mood'", "Unknown", "CaseIterable", ".example"] {
            #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
        }
        #expect(Columns<Unknown>().text.name.hasPrefix("\\"))

        let table = try TableDefinition(Unknown.self, .example(Unknown(text: "x", mood: .good)))
        #expect(table.columns == [ColumnDefinition("text", .string), ColumnDefinition("mood", .string)])
        #expect(Columns<Unknown>().text.name == "text" && Columns<Unknown>().mood.name == "mood")

        #expect(throws: StoreError.self) { try TableDefinition(Strict.self) }
        let strict = try TableDefinition(
            Strict.self,
            .example(Strict(code: "C1", amount: 0)),
            .indexed(\.amount, \.code)
        )
        #expect(strict.columns.map(\.type) == [.string, .int64] && strict.indexes == [["amount", "code"]])
    }

    @Test("declared columns are held against the type")
    func declaredColumns() throws {
        func table(_ columns: ColumnDefinition...) -> TableDefinition { TableDefinition("t", columns: columns) }
        try table(.init("title", .string), .init("due", .date), .init("address", .json)).check(against: Item.self)
        try table(.init("elsewhere", .bytes)).check(against: Item.self)
        for wrong in [table(.init("due", .string)), table(.init("count", .double)), table(.init("price", .double))] {
            let error = #expect(throws: StoreError.self) { try wrong.check(against: Item.self) }
            #expect(error?.code == .invalidSchema && error?.message.contains("'\(wrong.columns[0].name)'") == true)
        }
        let version = TableDefinition("t", columns: [.init("title", .int64)])
        #expect(throws: StoreError.self) { try version.check(against: Item.self) }
    }

    @Test("a type whose items do not get the ids of their rows is refused; a computed id, or one for all, is none such")
    func lostIDs() throws {
        struct Forgetful: Codable, Identifiable, Sendable {
            var id = UUID()
            var text = ""
            enum CodingKeys: CodingKey { case text }
        }
        struct Empty: Codable, Identifiable, Sendable {
            var id = ""
            var text = ""
            enum CodingKeys: CodingKey { case text }
        }
        struct Keyed: Codable, Identifiable, Sendable {
            var key: String
            var id: String { "k-\(key)" }
        }
        struct Single: Codable, Identifiable, Sendable {
            var text: String
            var id: String { "settings" }
        }
        for refused: () throws -> Void in [
            { _ = try TableDefinition(Forgetful.self) }, { _ = try TableDefinition(Empty.self) },
            { try TableDefinition("t", columns: []).check(identityOf: Empty.self) },
        ] {
            let error = #expect(throws: StoreError.self) { try refused() }
            #expect(error?.code == .invalidSchema && error?.message.contains("'id'") == true, "\(error as Any)")
        }
        #expect(try TableDefinition(Keyed.self).columns.map(\.name) == ["key"])
        #expect(try TableDefinition(Single.self).columns.map(\.name) == ["text"])
    }

    @Test("a type that makes an id of its own where it decodes none gets those of its rows")
    func ownIDs() throws {
        struct Tolerant: Codable, Identifiable, Sendable, Equatable {
            var id: UUID
            var text: String

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                id = try container.decodeIfPresent(UUID.self, forKey: .id) ?? UUID()
                text = try container.decodeIfPresent(String.self, forKey: .text) ?? ""
            }
        }
        let table = try TableDefinition(Tolerant.self)
        #expect(table.columns.map(\.name) == ["text"])
        try table.check(identityOf: Tolerant.self)
        #expect(ItemDescription<Tolerant>.of(Tolerant.self).columnName(of: \Tolerant.id) == "id")
    }

    struct Wide: Codable, Identifiable, Sendable {
        var id = ""
        var count: Int
        var wide: Int128?
    }

    @Test("a property for which there is no column is named, with an example as well")
    func noColumn() throws {
        for make in [
            { try TableDefinition(Wide.self) }, { try TableDefinition(Wide.self, .example(Wide(count: 1, wide: 2))) },
        ] {
            let error = #expect(throws: StoreError.self) { try make() }
            #expect(error?.code == .invalidSchema && error?.message.contains("'wide'") == true, "\(error as Any)")
            #expect(error?.message.contains("128 bits") == true)
        }
    }

    /// Decodes a part of itself from values inside of another one.
    struct Flat: Codable, Identifiable, Sendable {
        var id = ""
        var x: Double

        enum CodingKeys: CodingKey { case id, place }
        enum PlaceKeys: CodingKey { case x }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            x = try container.nestedContainer(keyedBy: PlaceKeys.self, forKey: .place).decode(Double.self, forKey: .x)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            var place = container.nestedContainer(keyedBy: PlaceKeys.self, forKey: .place)
            try place.encode(x, forKey: .x)
        }
    }

    @Test("a nested container of a type's own is named as that, and no example is advised")
    func nestedContainer() {
        let error = #expect(throws: StoreError.self) { try TableDefinition(Flat.self) }
        #expect(error?.code == .invalidSchema && error?.message.contains("'place'") == true, "\(error as Any)")
        #expect(error?.message.contains("nested") == true && error?.message.contains("example") == false)
    }

    /// Ends the process when it is decoded from contents that are made up.
    struct Delicate: Codable, Equatable {
        var codes: [Int]

        enum CodingKeys: CodingKey { case codes }

        init(_ codes: Int...) { self.codes = codes }

        init(from decoder: any Decoder) throws {
            codes = try decoder.container(keyedBy: CodingKeys.self).decode([Int].self, forKey: .codes)
            precondition(!codes.isEmpty)
        }
    }

    @Test("contents are not made up for what the example has, whose values tell properties of one type apart")
    func delicate() throws {
        struct Item: Codable, Identifiable, Sendable {
            var id = ""
            var text: String
            var first: Delicate
            var second: Delicate
        }
        let table = try TableDefinition(
            Item.self,
            .example(Item(text: "x", first: Delicate(1), second: Delicate(2))),
            .local(\.second)
        )
        #expect(table.columns.map(\.type) == [.string, .json, .json])
        #expect(table.columns.filter(\.isLocal).map(\.name) == ["second"])
    }

    struct Computing: Codable, Identifiable, Sendable {
        var id = ""
        var text = ""
        var nickname: String?
        var complete = false
        var archived = false
        var ratio = 0.0
        var fee = 0.0
        var isClosed: Bool { complete || archived }
        var isOpen: Bool { !complete }
        var isDone: Bool { complete }
        var name: String { nickname ?? text }
        var both: String { text + (nickname ?? "") }
        var gross: Double { ratio + fee }
    }

    @Test("a computed property is no column, also when it has the value of one now and then")
    func computed() {
        let description = ItemDescription<Computing>.of(Computing.self)
        let paths: [PartialKeyPath<Computing>] = [\.isClosed, \.isOpen, \.name, \.both, \.gross]
        for path in paths { #expect(description.columnName(of: path) == nil, "\(path)") }
        // It is always the same as the column.
        #expect(description.columnName(of: \Computing.isDone) == "complete")
        for (path, name) in [
            (\Computing.text, "text"), (\.nickname, "nickname"), (\.complete, "complete"), (\.archived, "archived"),
            (\.ratio, "ratio"), (\.fee, "fee"),
        ] as [(PartialKeyPath<Computing>, String)] {
            #expect(description.columnName(of: path) == name)
        }
    }

    @Test("a property that has a value of its own where the row has none is a column")
    func tolerant() throws {
        struct Tolerant: Decodable, Identifiable, Sendable {
            enum CodingKeys: CodingKey { case id, text, complete, count }
            var id: String
            var text: String
            var complete: Bool
            var count: Int

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                id = try container.decode(String.self, forKey: .id)
                text = try container.decodeIfPresent(String.self, forKey: .text) ?? ""
                complete = try container.decodeIfPresent(Bool.self, forKey: .complete) ?? false
                count = try container.decodeIfPresent(Int.self, forKey: .count) ?? 0
            }
        }
        let description = ItemDescription<Tolerant>.of(Tolerant.self)
        #expect(description.columnName(of: \Tolerant.text) == "text")
        #expect(description.columnName(of: \Tolerant.complete) == "complete")
        #expect(description.columnName(of: \Tolerant.count) == "count")
    }
}
