import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

@Suite("The changes that waited at one moment")
struct OutstandingChangesTests {
    private func add(_ ids: String..., to device: SyncWorld.Device) async throws {
        for id in ids { try await device.table.insert(["text": .string(id), "complete": false], id: id) }
    }

    @Test("those that the server has taken are answered, later ones do not count")
    func taken() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await add("a", "b", to: world.phone)
            let changes = try await world.phone.context.outstandingChanges()
            #expect(changes.total == 2 && changes.count == 2)
            #expect(try await changes.review() == .init(open: [1, 2], hasNewer: false))
            try await add("c", to: world.phone)
            #expect(try await changes.review() == .init(open: [1, 2], hasNewer: true))
            _ = try await world.phone.context.push()
            #expect(changes.count == 0, "known without reading the queue")
            #expect(try await changes.review() == .init(open: [], hasNewer: false))
        }
    }

    @Test("an answer to an earlier edit is none, and a later edit does not hold one up")
    func edits() async throws {
        try await SyncWorld.with(.datasync) { world in
            let phone = world.phone
            try await add("a", to: phone)
            let later = Holder()
            phone.server.intercept(
                .whileUnderWay {
                    try await phone.table.update(Record(id: "a", ["text": "second"]))
                    await later.set(try await phone.context.outstandingChanges())
                }
            )
            let first = try await phone.context.outstandingChanges()
            _ = try await phone.context.push()
            #expect(first.count == 0)
            #expect(try await first.review() == .init(open: [], hasNewer: true))
            let second = try #require(await later.changes)
            #expect(second.count == 1, "the answer was for what was there before")
            try await phone.table.update(Record(id: "a", ["text": "third"]))
            #expect(try await second.review() == .init(open: [1], hasNewer: true))
            _ = try await phone.context.push()
            #expect(second.count == 0)
        }
    }

    @Test("what is refused, in conflict or given up is not waited for, and counts anew when it is released")
    func notTaken() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem("a")
            try await world.laptop.table.update(Record(id: "a", ["text": "bread"]))
            _ = try await world.laptop.context.push()
            try await world.phone.table.update(Record(id: "a", ["text": "oat milk"]))
            try await add("b", to: world.phone)
            let changes = try await world.phone.context.outstandingChanges()
            try await world.phone.table.delete("b")
            #expect(try await changes.review().open.count == 1)
            _ = try await world.phone.context.push()
            #expect(try await changes.review() == .init(open: [], hasNewer: false))
            try await world.phone.context.resolve(try await world.phone.onlyError(), with: .keepMine)
            #expect(try await changes.review() == .init(open: [], hasNewer: true))
        }
    }

    @Test("an insert that was deleted and brought back is newer")
    func broughtBack() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await add("a", to: world.phone)
            let changes = try await world.phone.context.outstandingChanges()
            try await world.phone.table.delete("a")
            try await world.phone.table.undoDelete("a")
            #expect(try await changes.review() == .init(open: [1], hasNewer: true))
        }
    }

    @Test("where one is given up, another one that stays may have waited for it")
    func givenUp() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await add("a", "b", to: world.phone)
            let changes = try await world.phone.context.outstandingChanges()
            #expect(try await changes.review() == .init(open: [1, 2], hasNewer: false))
            try await world.phone.table.revert("a")
            #expect(try await changes.review() == .init(open: [2], hasNewer: true))
            #expect(try await changes.review() == .init(open: [2], hasNewer: false), "that is told once")
        }
    }

    @Test("where a conflict of before is given up, too")
    func conflictOfBefore() async throws {
        try await SyncWorld.with(.datasync) { world in
            let phone = world.phone
            try await world.shareItem("a")
            try await world.laptop.table.update(Record(id: "a", ["text": "bread"]))
            _ = try await world.laptop.context.push()
            try await phone.table.update(Record(id: "a", ["text": "oat milk"]))
            _ = try await phone.context.push()
            try await add("b", to: phone)
            let changes = try await phone.context.outstandingChanges()
            try await phone.context.resolve(try await phone.onlyError(), with: .takeServer)
            #expect(try await changes.review().hasNewer)
        }
    }

    @Test("a push that gets no answer leaves all of them open")
    func unanswered() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await add("a", "b", to: world.phone)
            let changes = try await world.phone.context.outstandingChanges()
            world.phone.server.intercept(.answerLost)
            await #expect(throws: SyncError.self) { _ = try await world.phone.context.push() }
            #expect(try await changes.review() == .init(open: [1, 2], hasNewer: false))
        }
    }
}

private actor Holder {
    var changes: OutstandingChanges?

    func set(_ changes: OutstandingChanges) { self.changes = changes }
}
