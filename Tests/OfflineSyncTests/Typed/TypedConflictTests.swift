import DatasyncEmulator
import DatasyncHTTP
import ItemCoding
import OfflineSync
import SyncContract
import Testing

@Suite("Conflicts in items of a type")
struct TypedConflictTests {
    struct Stated: Codable, Identifiable, Sendable {
        var id = ""
        var text = ""
        var syncState = SyncState.synced
    }

    struct OptionallyStated: Codable, Identifiable, Sendable {
        var id = ""
        var text: String?
        var syncState: SyncState?
    }

    struct Counted: Codable, Identifiable, Sendable, Equatable {
        var id = ""
        var text: String?
        var pinned = false
        var count = 7
    }

    /// Both devices have changed an item; the laptop has a column of its own, and one that is null on the server.
    private func conflict(_ body: (SyncWorld, SyncWorld.Device) async throws -> Void) async throws {
        let table = try TableDefinition(Counted.self, named: "TodoItem", .local(\.pinned), .example(Counted()))
        try await SyncWorld.with(.datasync, laptopTable: table) { world in
            try await world.shareItem()
            try await world.laptop.table.update(Record(id: "a", ["pinned": true]))
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            try await body(world, world.laptop)
        }
    }

    @Test("show their three rows also where the type asks for their states")
    func states() async throws {
        try await conflict { world, laptop in
            let items: SyncTable<Stated> = try laptop.context.table("TodoItem")
            _ = try await laptop.context.push()
            let error = try #require(try await items.operationErrors().first)
            #expect(error.item?.text == "mine" && error.item?.syncState == .conflicted)
            #expect(error.serverItem?.text == "theirs" && error.serverItem?.syncState == .synced)
            #expect(error.baseItem?.text == "milk" && error.baseItem?.syncState == .synced)

            let others: SyncTable<OptionallyStated> = try laptop.context.table("TodoItem")
            others.conflictPolicy = .merge { conflict in
                guard var merged = conflict.serverItem, let mine = conflict.item else { return .takeServer }
                merged.text = "\(mine.text ?? ""), \(merged.text ?? "")"
                return .keepMerged(merged)
            }
            try await laptop.table.update(Record(id: "a", ["text": "mine again"]))
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["a": "mine again, theirs"])
        }
    }

    @Test("are told apart from refusals by the states of their items")
    func refusal() async throws {
        try await SyncWorld.with(.datasync) { world in
            let items: SyncTable<Stated> = try world.laptop.context.table("TodoItem")
            try await items.insert(Stated(id: "a", text: "milk"))
            world.emulator.inject(.respond(EmulatorResponse(400)) { $0.method == "POST" })
            #expect(try await world.laptop.context.push().failures.count == 1)
            let error = try #require(try await items.operationErrors().first)
            #expect(error.item?.text == "milk" && error.item?.syncState == .failed)
        }
    }

    /// How a decision is made.
    enum Way: CaseIterable {
        case policy, resolvedMerge, keptLocal
    }

    @Test(
        "that are settled by an item set no column that stays here, and none that only stands in",
        arguments: Way.allCases,
        [true, false]
    )
    func localColumns(_ way: Way, _ startsFromServer: Bool) async throws {
        try await conflict { world, laptop in
            let items: SyncTable<Counted> = try laptop.context.table("TodoItem")
            let merge: @Sendable (TableOperationError<Counted>) throws -> Counted = { conflict in
                var merged = try #require(startsFromServer ? conflict.serverItem : conflict.item)
                #expect(merged.count == 7 && !merged.pinned)
                merged.text = "both"
                return merged
            }
            if way == .policy { items.conflictPolicy = .merge { .keepMerged(try merge($0)) } }
            let report = try await laptop.context.push()
            if way != .policy {
                #expect(report.conflicts.count == 1)
                let error = try #require(try await items.operationErrors().first)
                let merged = try merge(error)
                let resolution = way == .keptLocal ? .keepLocal(merged) : ConflictResolution.keepMerged(merged)
                try await laptop.context.resolve(error, with: resolution)
                _ = try await laptop.context.push()
            }
            let row = try #require(try await laptop.table.read("a"))
            #expect(row["text"] == "both" && row["pinned"] == true && row["count"]?.isNull ?? true)
            #expect(world.onServer() == ["a": way == .keptLocal ? "theirs" : "both"])
            let sent = world.emulator.rows(in: "TodoItem").first?["count"]
            #expect(sent == nil || sent == .null)
        }
    }

    @Test("that are settled by an item set what is a value of the row")
    func values() async throws {
        try await conflict { world, laptop in
            try await laptop.table.update(Record(id: "a", ["count": 3]))
            let items: SyncTable<Counted> = try laptop.context.table("TodoItem")
            items.conflictPolicy = .merge { conflict in
                #expect(conflict.item?.count == 3 && conflict.serverItem?.count == 7)
                var merged = try #require(conflict.item)
                merged.count = 4
                return .keepMerged(merged)
            }
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.emulator.rows(in: "TodoItem").first?["count"] == .integer(4))
        }
    }
}
