import DatasyncEmulator
import DatasyncHTTP
import Foundation
import ItemCoding
import OfflineSync
import SyncContract
import Testing

/// What a type of today reads of a row that a later one, or another platform, has written.
@Suite("Rows that say more than the type of their items")
struct FinerRowTests {
    struct Settings: Codable, Equatable { var known = 0 }

    struct Item: SyncItem, Equatable {
        var id = ""
        var text: String?
        var due: Date?
        var owner: UUID?
        var settings: Settings?
        var version: String?
    }

    private static let due = "2026-11-28T08:00:00.1234567Z"
    private static let owner = "0b8e7c5a-6ac2-4d0b-9e0f-0a1b2c3d4e5f"
    private static let row: [String: JSONValue] = [
        "id": "a", "text": "milk", "due": .string(due), "owner": .string(owner),
        "settings": ["known": 1, "added": 2],
    ]

    private static func table() throws -> TableDefinition { try TableDefinition(Item.self, named: "TodoItem") }

    /// A device that has pulled such a row.
    private func world(
        _ body: (SyncWorld, SyncContext, SyncTable<Item>) async throws -> Void
    ) async throws {
        try await SyncWorld.with(.datasync, laptopTable: Self.table()) { world in
            try world.emulator.seed([Self.row], in: "TodoItem")
            try await world.laptop.pull()
            try await body(world, world.laptop.context, world.laptop.context.table("TodoItem"))
        }
    }

    @Test("keep that when an item of theirs is written with another property changed")
    func update() async throws {
        try await world { world, context, items in
            var item = try #require(try await items.read("a"))
            item.text = "bread"
            try await items.update(item)
            #expect(try await items.table.read("a")?["due"] == .date(#require(Timestamp(Self.due))))
            #expect(try await context.push().pushed == 1)
            #expect(world.onServer() == ["a": "bread"])
            let row = world.emulator.rows(in: "TodoItem").first
            #expect(row?["due"] == .string(Self.due) && row?["owner"] == .string(Self.owner))
            #expect(row?["settings"]?["known"] == .integer(1) && row?["settings"]?["added"] == .integer(2))
        }
    }

    @Test("lose it where the very property is changed")
    func changed() async throws {
        try await world { world, context, items in
            var item = try #require(try await items.read("a"))
            (item.settings, item.due) = (Settings(known: 3), Date(timeIntervalSince1970: 0))
            try await items.update(item)
            #expect(try await context.push().pushed == 1)
            let row = world.emulator.rows(in: "TodoItem").first
            #expect(row?["settings"]?["known"] == .integer(3) && row?["settings"]?["added"] == nil)
            #expect(row?["due"] == "1970-01-01T00:00:00.000Z" && row?["owner"] == .string(Self.owner))
        }
    }

    @Test("keep it through a merge, from the side that has changed it", arguments: [true, false])
    func merged(serverHasAdded: Bool) async throws {
        try await world { world, context, items in
            let device = try SyncWorld.context(world.emulator, .datasync, StoreSchema([Self.table()]))
            let other = try device.table("TodoItem")
            try await other.pull()
            let settings = FieldValue.json(try #require(JSONText(#"{"known":1,"added":9}"#)))
            var theirs = Record(id: "a", ["text": "theirs"])
            var mine = Record(id: "a", ["text": "mine"])
            if serverHasAdded { theirs["settings"] = settings } else { mine["settings"] = settings }
            try await other.update(theirs)
            _ = try await device.push()
            try await world.laptop.table.update(mine)
            items.conflictPolicy = .merge { conflict in
                var merged = try #require(conflict.item)
                merged.text = "both"
                return .keepMerged(merged)
            }
            #expect(try await context.push().pushed == 1)
            let row = world.emulator.rows(in: "TodoItem").first
            #expect(row?["text"] == "both" && row?["settings"]?["added"] == .integer(9))
            #expect(row?["due"] == .string(Self.due) && row?["owner"] == .string(Self.owner))
        }
    }
}
