import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

private let refuse = Fault.respond(EmulatorResponse(400)) { $0.method == "PUT" || $0.method == "PATCH" }

/// The next push sends the change again.
private func fail(_ method: String) -> Fault { .respond(EmulatorResponse(500)) { $0.method == method } }

@Suite("Changes that the server refused")
struct RefusedChangeTests {
    @Test("a refused change, theirs taken: the local row becomes the server's", arguments: DatasyncDialect.allCases)
    func refusedTakeServer(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            world.emulator.inject(refuse)
            #expect(try await laptop.context.push().failures.count == 1)
            try await laptop.context.resolve(try await laptop.onlyError(), with: .takeServer)
            try await laptop.pull()
            #expect(world.onServer() == ["a": "milk"])
            #expect(try await laptop.text("a") == "milk")
        }
    }

    @Test(
        "a refused delete of an edited item, theirs taken: the local row becomes the server's",
        arguments: DatasyncDialect.allCases
    )
    func refusedDelete(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try await laptop.table.delete("a")
            world.emulator.inject(.respond(EmulatorResponse(400)) { $0.method == "DELETE" })
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .takeServer)
            try await laptop.pull()
            #expect(try await laptop.text("a") == "milk")
        }
    }

    @Test("an insert that was stored under another id is told with what the item holds by then")
    func editedUnderWay() async throws {
        let server = GroupServer()
        let context = SyncContext(store: try makeStore(), remote: server)
        let todos = try context.table("TodoItem")
        try await todos.insert(["text": "milk"], id: "a")
        server.script = { _ in
            try await todos.update(Record(id: "a", ["text": "cream"]))
            throw RemoteError(.storedUnderAnotherID, "it chooses ids")
        }
        #expect(try await context.push().failures.count == 1)
        #expect(try await context.operationErrors().map { $0.item?["text"] } == ["cream"])
    }

    @Test("a change made while a discarded one is still under way is not mistaken for it")
    func reusedNumber() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            world.emulator.inject(fail("PUT"))
            _ = try await laptop.context.push()
            let error = try await laptop.onlyError()
            laptop.server.intercept(
                .whileUnderWay {
                    try await laptop.context.resolve(error, with: .discard)
                    try await laptop.table.insert(["text": "new"], id: "b")
                }
            )
            _ = try await laptop.context.push()
            #expect(try await laptop.context.operations().filter { !$0.isUndo }.map(\.itemID) == ["b"])
            _ = try await laptop.context.push()
            #expect(world.onServer() == ["a": "milk", "b": "new"], "what arrived after all is taken back")
            #expect(try await laptop.context.operations().isEmpty)
        }
    }

    @Test("a change of the same item, made while the given-up one is under way, is kept")
    func discardInFlight() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            world.emulator.inject(fail("PUT"))
            _ = try await laptop.context.push()
            let error = try await laptop.onlyError()
            laptop.server.intercept(
                .whileUnderWay {
                    try await laptop.context.resolve(error, with: .takeServer)
                    try await laptop.table.update(Record(id: "a", ["text": "mine 2"]))
                }
            )
            _ = try await laptop.context.push()
            _ = try await laptop.context.push()
            try await laptop.pull()
            let local = try await laptop.text("a")
            let waiting = try await laptop.context.operations().count
            #expect(local == "mine 2" && (waiting == 1 || world.onServer()["a"] == "mine 2"))
        }
    }

    @Test(
        "an item that the server does not hand over again does not hold up the others",
        arguments: [ConflictResolution<Record>.takeServer, .discard]
    )
    func refetchForbidden(_ resolution: ConflictResolution<Record>) async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            world.emulator.inject(.respond(EmulatorResponse(400), times: 1) { $0.method == "PUT" })
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: resolution)
            try await world.phone.table.insert(["text": "bread"], id: "b")
            _ = try await world.phone.context.push()
            world.emulator.inject(
                .respond(EmulatorResponse(403), times: 99) { $0.method == "GET" && $0.path.hasSuffix("/a") }
            )
            for _ in 0..<3 { _ = try? await laptop.pull() }
            #expect(try await laptop.text("b") == "bread")
        }
    }

    @Test("a merge of a refused delete that succeeds after all is kept")
    func keepMergedInFlight() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.delete("a")
            world.emulator.inject(fail("DELETE"))
            _ = try await laptop.context.push()
            let error = try await laptop.onlyError()
            laptop.server.intercept(
                .whileUnderWay {
                    try await laptop.context.resolve(error, with: .keepMerged(Record(id: "a", ["text": "merged"])))
                }
            )
            _ = try await laptop.context.push()
            #expect(try await laptop.text("a") == "merged")
            // The row that is there no more was deleted here.
            #expect(try await laptop.context.push().conflicts.isEmpty)
            #expect(world.onServer() == ["a": "merged"])
        }
    }

    @Test("a refused insert is sent again after an edit")
    func refusedInsertEdited() async throws {
        try await SyncWorld.with(.datasync) { world in
            world.emulator.inject(.respond(EmulatorResponse(400)) { $0.method == "POST" })
            try await world.laptop.table.insert(["text": "bad"], id: "a")
            #expect(try await world.laptop.context.push().failures.count == 1)
            try await world.laptop.table.update(Record(id: "a", ["text": "good"]))
            #expect(try await world.laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["a": "good"])
        }
    }

    @Test("a refused insert, deleted instead, is an insert again when that deletion is taken back")
    func refusedInsertDeletedInstead() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            world.emulator.inject(.respond(EmulatorResponse(400)) { $0.method == "POST" })
            try await laptop.table.insert(["text": "milk"], id: "a")
            #expect(try await laptop.context.push().failures.count == 1)
            try await laptop.context.resolve(try await laptop.onlyError(), with: .deleteInstead)
            try await laptop.table.undoDelete("a")
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.notTaken.isEmpty)
            #expect(world.onServer() == ["a": "milk"])
        }
    }

    @Test("those of a table do not have those of others among them")
    func errorsOfTables() async throws {
        let server = GroupServer { _ in throw RemoteError(.refused, "not valid", status: 400) }
        let lists = TableDefinition("List", columns: [.init("text", .string)])
        let context = SyncContext(store: MemoryStore(try StoreSchema([todoTable, lists])), remote: server)
        for (table, id) in [("TodoItem", "a"), ("List", "b")] {
            try await context.table(table).insert(["text": "milk"], id: id)
        }
        #expect(try await context.push().failures.count == 2)
        for (table, id) in [("TodoItem", "a"), ("List", "b")] {
            #expect(try await context.table(table).operationErrors().map(\.itemID) == [id])
        }
    }

    @Test("a discarded item does not come back after a purge that keeps the tokens")
    func purgeRefetch() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try await world.shareItem()
            try await world.phone.table.insert(["text": "later"], id: "z")
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            try await laptop.pull()
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            world.emulator.inject(refuse)
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .discard)
            try await laptop.table.purge(resettingDeltaTokens: false)
            try await laptop.pull()
            #expect(try await laptop.text("a") == nil)
        }
    }

    @Test("a delete that a web page answered is not taken for done")
    func deleteAnsweredByPage() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            try await world.laptop.table.delete("a")
            world.emulator.inject(.respond(.html(404, "<html>Site not found</html>")) { $0.method == "DELETE" })
            let code = try await syncErrorCode { _ = try await world.laptop.context.push() }
            #expect(code == .pushAbortedNetwork)
            #expect(try await world.laptop.context.operations().map(\.state) == [.pending])
            _ = try await world.laptop.context.push()
            #expect(world.onServer().isEmpty)
        }
    }

    @Test("one that is to be tried again is not told of as refused from then on", arguments: [false, true])
    func triedAgain(_ all: Bool) async throws {
        try await SyncWorld.with(.datasync) { world in
            let context = world.laptop.context
            try await world.laptop.table.insert(["text": "milk"], id: "a")
            world.emulator.inject(.respond(EmulatorResponse(400), times: 1) { $0.method == "POST" })
            #expect(try await context.push().failures.count == 1)
            if all {
                #expect(try await context.retryRefused() == 1)
            } else {
                try await context.retry(try #require(try await context.operations().first))
            }
            #expect(try await context.operationErrors().isEmpty)
            #expect(try await context.status().pending == 1)
            world.laptop.server.intercept(.requestLost)
            let error = await #expect(throws: SyncError.self) { _ = try await context.push() }
            #expect(error?.push?.failures.isEmpty == true)
        }
    }
}
