import DatasyncEmulator
import OfflineSync
import RemoteContract
import SyncContract
import Testing

/// A row is known by an id that was made in advance, because another one refers to it, and then turns out to be one of this
/// device whose insert was never answered.
@Suite("What refers to an id that was made in advance")
struct RedirectedReferenceTests {
    /// Here is the list `x`, whose answer was lost, and a task of the other device in it, with the list's id made up.
    ///
    /// - Returns: The id that was made up.
    private func begin(_ world: AssignedIDWorld) async throws -> String {
        let (phone, laptop) = (world.phone, world.laptop)
        try await phone.lists.insert(["text": "shopping"], id: "x")
        phone.server.intercept(.answerLost)
        _ = try await syncErrorCode { _ = try await phone.context.push() }
        try await laptop.pullAll()
        let list = try #require(try await laptop.store.read(Query("Lists")).records.first?.id.stringValue)
        try await laptop.tasks.insert(["text": "milk", "list": .string(list)])
        _ = try await laptop.context.push()
        try await pull(phone.tasks, phone)
        let task = try #require(try await phone.store.read(Query("Tasks")).records.first)
        let made = try #require(task["list"]?.stringValue)
        #expect(made != "x")
        return made
    }

    private func pull(_ source: any SyncSource, _ device: AssignedIDWorld.Device) async throws {
        _ = try await device.context.pull(source, options: .init(order: .pullOnly))
    }

    /// Drops the only change of a task that was not taken, which is refused when it is sent again.
    private func drop(_ world: AssignedIDWorld) async throws {
        world.emulator.inject(.respond(EmulatorResponse(422), times: 1) { $0.method == "POST" })
        let failed = try #require(try await world.phone.context.push(world.phone.tasks).failures.first)
        try await world.phone.context.resolve(failed, with: .keepLocal())
    }

    @Test("follows when it is an insert that a deletion has cancelled and that is taken back")
    func cancelled() async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            let made = try await begin(world)
            try await phone.tasks.insert(["text": "eggs", "list": .string(made)], id: "n")
            try await phone.tasks.insert(["text": "tea"], id: "o")
            for id in ["n", "o"] { try await phone.tasks.delete(id) }
            try await pull(phone.lists, phone)
            for id in ["n", "o"] { try await phone.tasks.undoDelete(id) }
            #expect(try await phone.told() == ["none: tea", "shopping: eggs", "shopping: milk"])
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.toldByServer() == ["none: tea", "shopping: eggs", "shopping: milk"])
        }
    }

    @Test("follows when it is the server's row beside a change, for which that is given up")
    func besideAChange() async throws {
        try await AssignedIDWorld.with { world in
            let (phone, laptop) = (world.phone, world.laptop)
            _ = try await begin(world)
            let task = try #require(try await phone.store.read(Query("Tasks")).records.first?.id.stringValue)
            try await phone.tasks.update(Record(id: .string(task), ["text": "mine"]))
            let theirs = try #require(try await laptop.store.read(Query("Tasks")).records.first?.id)
            try await laptop.tasks.update(Record(id: theirs, ["text": "oat milk"]))
            _ = try await laptop.context.push()
            try await pull(phone.tasks, phone)
            try await pull(phone.lists, phone)
            try await phone.tasks.revert(task)
            #expect(try await phone.told() == ["shopping: oat milk"])
        }
    }

    @Test("follows when it is the server's row in a conflict, and nothing of the change")
    func inAConflict() async throws {
        try await AssignedIDWorld.with { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await phone.tasks.insert(["text": "milk"], id: "t")
            _ = try await phone.context.push()
            try await phone.lists.insert(["text": "shopping"], id: "x")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            try await laptop.pullAll()
            let list = try #require(try await laptop.store.read(Query("Lists")).records.first?.id.stringValue)
            let task = try #require(try await laptop.store.read(Query("Tasks")).records.first?.id)
            try await laptop.tasks.update(Record(id: task, ["list": .string(list)]))
            _ = try await laptop.context.push()
            try await phone.tasks.update(Record(id: "t", ["text": "mine"]))
            let conflict = try #require(try await phone.context.push(phone.tasks).conflicts.first)
            #expect(conflict.serverItem?["list"]?.isNull == false && conflict.serverItem?["list"] != "x")
            try await pull(phone.lists, phone)
            #expect(try await phone.context.operationErrors().map { $0.serverItem?["list"] } == ["x"])
        }
    }

    @Test("follows when it is an insert that was dropped and comes late: it is found", arguments: [false, true])
    func dropped(_ updates: Bool) async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            let made = try await begin(world)
            try await phone.tasks.insert(["text": "eggs", "list": .string(made)], id: "n")
            phone.server.intercept(.late)
            _ = try await syncErrorCode { _ = try await phone.context.push(phone.tasks) }
            try await drop(world)
            try await pull(phone.lists, phone)
            await phone.server.deliver()
            if updates {
                try await phone.tasks.update(Record(id: "n", ["text": "ham"]))
                #expect(try await phone.context.push().notTaken.isEmpty)
            }
            try await phone.pullAll()
            let wanted = ["shopping: milk", updates ? "shopping: ham" : "shopping: eggs"].sorted()
            #expect(try await phone.told() == wanted)
            #expect(world.toldByServer() == wanted)
            #expect(try await phone.tasks.read("n") != nil)
        }
    }

    @Test("follows when it is an insert that comes in the same page, so that it is found")
    func samePage() async throws {
        try await AssignedIDWorld.with { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await phone.tasks.insert(["text": "parent"], id: "p")
            phone.server.intercept(.late)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            world.emulator.inject(.respond(EmulatorResponse(422), times: 1) { $0.method == "POST" })
            #expect(try await phone.context.push().failures.count == 1)
            await phone.server.deliver()
            try await laptop.pullAll()
            let parent = try #require(try await laptop.store.read(Query("Tasks")).records.first?.id.stringValue)
            try await laptop.tasks.insert(["text": "theirs", "parent": .string(parent)])
            _ = try await laptop.context.push()
            // Only what refers to the parent comes.
            let theirs = Query("Tasks").filtered(by: Column("text") == "theirs")
            _ = try await phone.context.pull(theirs, options: .init(order: .pullOnly))
            let task = try await phone.store.read(theirs).records.first
            let made = try #require(task?["parent"]?.stringValue)
            try await phone.tasks.insert(["text": "mine", "parent": .string(made)], id: "q")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            try await pull(phone.tasks, phone)
            #expect(try await phone.texts("Tasks") == ["mine", "parent", "theirs"])
            #expect(try await phone.tasks.read("q")?["parent"] == "p")
            for error in try await phone.context.operationErrors() {
                try await phone.context.resolve(error, with: .keepMine)
            }
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Tasks") == ["mine", "parent", "theirs"])
        }
    }
}
