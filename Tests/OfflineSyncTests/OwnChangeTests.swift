import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

@Suite("No conflict with oneself")
struct OwnChangeTests {
    @Test(
        "an item held in an editor while its own earlier edit is pushed can be saved",
        arguments: DatasyncDialect.allCases
    )
    func editor(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            var held = try #require(try await laptop.table.read("a"))
            try await laptop.table.update(Record(id: "a", ["complete": true]))
            _ = try await laptop.context.push()
            held["text"] = "cream"
            try await laptop.table.update(held)
            #expect(try await laptop.context.push().conflicts.isEmpty)
            #expect(world.onServer() == ["a": "cream"])
        }
    }

    @Test(
        "an item held while others changed it is a conflict, also after own changes",
        arguments: DatasyncDialect.allCases
    )
    func staleEditor(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            var held = try #require(try await laptop.table.read("a"))
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await laptop.pull()
            try await laptop.table.update(Record(id: "a", ["complete": true]))
            _ = try await laptop.context.push()
            held["text"] = "cream"
            try await laptop.table.update(held)
            #expect(try await laptop.table.read("a")?.version == held.version, "what it is based on is shown")
            #expect(try await laptop.context.push().conflicts.count == 1)
            #expect(world.onServer() == ["a": "theirs"])
        }
    }

    @Test("an id is used again after a deletion that was pushed", arguments: DatasyncDialect.allCases)
    func insertAfterDeletion(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.delete("a")
            _ = try await laptop.context.push()
            try await laptop.table.insert(["text": "cream"], id: "a")
            #expect(try await laptop.context.push().conflicts.isEmpty)
            #expect(world.onServer() == ["a": "cream"])
            // One that somebody else deleted and this device has never seen is another matter.
            try await world.phone.pull()
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            try await laptop.table.update(Record(id: "a", ["text": "butter"]))
            #expect(try await laptop.context.push().conflicts.count == 1)
        }
    }

    @Test("a request that was delivered twice is no conflict", arguments: DatasyncDialect.allCases)
    func twice(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "cream"]))
            // The first copy is carried out, the answer is that to the second.
            laptop.server.intercept(.late)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            await laptop.server.deliver()
            #expect(try await laptop.context.push().conflicts.isEmpty)
            #expect(world.onServer() == ["a": "cream"])
            #expect(try await laptop.context.operations().isEmpty)
        }
    }

    @Test("the deletion of a conflicted insert meets the conflict again", arguments: DatasyncDialect.allCases)
    func conflictedInsert(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let laptop = world.laptop
            try await world.phone.table.insert(["text": "theirs"], id: "a")
            _ = try await world.phone.context.push()
            try await laptop.table.insert(["text": "mine"], id: "a")
            #expect(try await laptop.context.push().conflicts.count == 1)
            try await laptop.table.delete("a")
            #expect(try await laptop.context.push().conflicts.count == 1)
            #expect(world.onServer() == ["a": "theirs"])
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            _ = try await laptop.context.push()
            #expect(world.onServer().isEmpty)
        }
    }

    @Test("what an editor saves that was opened before an answer without a version is no conflict", arguments: 0...3)
    func unversionedAnswer(_ savesBetween: Int) async throws {
        let isSilent = Switch()
        try await SyncWorld.with(
            .datasync,
            answeringLaptop: SyncWorld.StandIn { request, emulator in
                let answer = try await emulator.handle(request)
                guard request.method == "PUT", answer.status == 200, isSilent.isOn else { return answer }
                var silent = try answer.without(["version"])
                silent.headers["ETag"] = nil
                return silent
            }
        ) { world in
            try await world.shareItem()
            let laptop = world.laptop
            var edited = try #require(try await laptop.table.read("a"))
            for save in 0...3 {
                if save == savesBetween { isSilent.isOn = true }
                edited["text"] = .string("save \(save)")
                try await laptop.table.update(edited)
                #expect(try await laptop.context.push().conflicts.isEmpty)
                #expect(world.onServer() == ["a": "save \(save)"])
            }
            try await world.phone.pull()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            edited["text"] = "over theirs"
            try await laptop.table.update(edited)
            #expect(try await laptop.context.push().conflicts.count == 1)
            #expect(world.onServer() == ["a": "theirs"])
        }
    }

    @Test(
        "a row taken from an answer without a version is looked up before it is written over",
        arguments: [true, false]
    )
    func versionlessAnswer(_ changesMeanwhile: Bool) async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.store.upsert([Record(id: "a", ["text": "milk"])], table: "TodoItem")
            try world.emulator.seed([["id": "a", "text": "milk"]], in: "TodoItem")
            try await laptop.table.update(Record(id: "a", ["text": "cream"]))
            if changesMeanwhile { try world.emulator.seed([["id": "a", "text": "theirs"]], in: "TodoItem") }
            let report = try await laptop.context.push()
            #expect(report.conflicts.count == (changesMeanwhile ? 1 : 0))
            #expect(world.onServer() == ["a": changesMeanwhile ? "theirs" : "cream"])
        }
    }
}
