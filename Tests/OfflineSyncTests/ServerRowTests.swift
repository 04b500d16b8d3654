import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import ReferenceStore
import SyncContract
import Testing

private let refuse = Fault.respond(EmulatorResponse(400)) { $0.method == "PUT" || $0.method == "PATCH" }

@Suite("The server's side of a conflict")
struct ServerRowTests {
    /// Lends a world in which the laptop's change has met the phone's, was kept, and waits to be sent over it.
    private func withMineKept(_ body: (SyncWorld) async throws -> Void) async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let (phone, laptop) = (world.phone, world.laptop)
            try await phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await phone.context.push()
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            try await body(world)
        }
    }

    /// Sends the laptop's change of the item, which is edited before the answer is known.
    private func pushWhileEditing(_ laptop: SyncWorld.Device) async throws {
        laptop.server.intercept(
            .whileUnderWay { try await laptop.table.update(Record(id: "a", ["text": "mine 2"])) }
        )
        _ = try await laptop.context.push()
    }

    @Test("a server's row kept beside a change is forgotten when the change was answered")
    func staleServerItem() async throws {
        try await withMineKept { world in
            let laptop = world.laptop
            try await pushWhileEditing(laptop)
            #expect(world.onServer() == ["a": "mine"])
            world.emulator.inject(refuse)
            try await laptop.pull()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .takeServer)
            #expect(try await laptop.text("a") != "theirs")
            try await laptop.pull()
            #expect(try await laptop.text("a") == "mine", "what the server has")
        }
    }

    @Test("a server's row kept beside a change is forgotten when the server has none any more")
    func staleServerItemGone() async throws {
        try await withMineKept { world in
            let laptop = world.laptop
            world.emulator.inject(.respond(EmulatorResponse(404)) { $0.method == "PUT" })
            _ = try await laptop.context.push()
            let error = try await laptop.onlyError()
            #expect(error.isConflict && error.serverItem == nil)
            try await laptop.context.resolve(error, with: .takeServer)
            #expect(try await laptop.text("a") == nil)
        }
    }

    @Test("theirs is never an older row than the server has") func stale() async throws {
        try await withMineKept { world in
            let laptop = world.laptop
            try await pushWhileEditing(laptop)
            try await world.phone.table.insert(["text": "later"], id: "z")
            _ = try await world.phone.context.push()
            world.emulator.inject(refuse)
            try await laptop.pull()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .takeServer)
            try await laptop.pull()
            #expect(try await laptop.texts() == world.onServer())
        }
    }

    @Test("theirs, when the server did not show its row: the next pull fetches it") func takeServerUnknown()
        async throws
    {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            try await world.phone.table.insert(["text": "later"], id: "z")
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            try await laptop.pull()
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            world.emulator.inject(.respond(EmulatorResponse(412)) { $0.method == "PUT" })
            world.emulator.inject(.respond(EmulatorResponse(403)) { $0.method == "GET" })
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .takeServer)
            try await laptop.pull()
            #expect(try await laptop.texts() == world.onServer())
        }
    }

    @Test("mine, when the server did not show its row: the change stays an update", arguments: DatasyncDialect.allCases)
    func keepMineUnknown(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            world.emulator.inject(
                .respond(EmulatorResponse(412), times: 1) { $0.method == "PUT" || $0.method == "PATCH" }
            )
            world.emulator.inject(.respond(EmulatorResponse(403), times: 1) { $0.method == "GET" })
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            #expect(try await laptop.context.operations().map(\.kind) == [.update])
        }
    }

    @Test("an insert dropped by a delete does not hide the server's row of that id") func dropWithServerRow()
        async throws
    {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await world.phone.table.insert(["text": "theirs"], id: "a")
            try await world.phone.table.insert(["text": "later"], id: "z")
            _ = try await world.phone.context.push()
            laptop.server.afterNextPage { try await laptop.table.insert(["text": "mine"], id: "a") }
            try await laptop.pull()
            #expect(try await laptop.context.operations().first?.serverItem != nil)
            try await laptop.table.delete("a")
            #expect(try await laptop.context.operations().isEmpty)
            try await laptop.pull()
            #expect(try await laptop.texts() == world.onServer())
        }
    }

    @Test("a merge does not set back a column that this device does not declare", arguments: DatasyncDialect.allCases)
    func undeclaredKeepMine(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try world.emulator.seed(
                [["id": .string("a"), "text": .string("milk"), "extra": .string("old")]],
                in: "TodoItem"
            )
            let laptop = world.laptop
            try await laptop.pull()
            #expect(try await laptop.table.read("a")?["extra"] == "old")
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try world.emulator.seed(
                [["id": .string("a"), "text": .string("theirs"), "extra": .string("new")]],
                in: "TodoItem"
            )
            _ = try await laptop.context.push()
            let error = try await laptop.onlyError()
            #expect(error.serverItem?["extra"] == "new")
            try await laptop.context.resolve(error, with: .keepMerged(Record(id: "a", ["text": "both"])))
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.emulator.rows(in: "TodoItem")[0]["text"] == .string("both"))
            #expect(world.emulator.rows(in: "TodoItem")[0]["extra"] == .string("new"))
        }
    }

    @Test("an edit under way does not set back a column that this device does not declare")
    func inFlightUndeclared() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let laptop = world.laptop
            let row: [String: JSONValue] = ["id": "a", "text": "same", "complete": false, "extra": "theirs"]
            try world.emulator.seed([row], in: "TodoItem")
            try await laptop.table.update(Record(id: "a", ["text": "same"]))
            // The 412 with the same declared content counts as done; the item is edited before that is known.
            laptop.server.intercept(.whileUnderWay { try await laptop.table.update(Record(id: "a", ["text": "mine"])) })
            _ = try await laptop.context.push()
            let second = try await laptop.context.push()
            #expect(second.conflicts.count == 1 || world.emulator.rows(in: "TodoItem")[0]["extra"] == .string("theirs"))
        }
    }
}
