import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import OfflineSync
import RemoteContract
import SyncContract
import Synchronization
import Testing

@Suite("A change at which pushes end again and again")
struct StumblingBlockTests {
    private static let page = EmulatorResponse.html(403, "<h1>Forbidden</h1>")

    /// A laptop with a change of the row "a", a new row and a deletion, in this order, of which the first gets an answer.
    private func world(
        _ answer: EmulatorResponse,
        _ body: (SyncWorld) async throws -> Void
    ) async throws {
        try await SyncWorld.with(.datasync) { world in
            for id in ["a", "b"] { try await world.shareItem(id) }
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try await laptop.table.insert(["text": "bread"], id: "c")
            try await laptop.table.delete("b")
            world.emulator.inject(.respond(answer, times: 99) { $0.method == "PUT" && $0.path.hasSuffix("/a") })
            try await body(world)
        }
    }

    @Test(
        "ends them as what is about all changes does, and then stands aside where the table answers",
        arguments: [
            EmulatorResponse(401), page, .html(400, "<h1>Request blocked</h1>"), .html(413, "<h1>Too large</h1>"),
        ]
    )
    func standsAside(_ answer: EmulatorResponse) async throws {
        try await world(answer) { world in
            let context = world.laptop.context
            let waiting = try await context.operations().map(\.itemID)
            for _ in 0..<2 {
                let code = try await syncErrorCode { _ = try await context.push() }
                #expect(code == (answer.status == 401 ? .pushAbortedAuthentication : .pushAbortedNetwork))
                #expect(try await context.operations().map(\.itemID) == waiting)
                #expect(try await context.operationErrors().isEmpty)
            }
            let report = try await context.push()
            #expect(report.pushed == 2 && report.failures.map(\.itemID) == ["a"])
            #expect(report.failures.first?.status == answer.status)
            #expect(world.onServer() == ["a": "milk", "c": "bread"])
            world.emulator.clearFaults()
            #expect(try await context.retryRefused() == 1)
            #expect(try await context.push().pushed == 1)
            #expect(world.onServer() == ["a": "mine", "c": "bread"])
        }
    }

    @Test(
        "is not known to have failed where a page stands for the answer: the row is looked up",
        arguments: [404, 410]
    )
    func openOutcome(_ status: Int) async throws {
        try await world(.html(status, "<h1>Status code \(status)</h1>")) { world in
            let context = world.laptop.context
            for _ in 0..<2 {
                #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
            }
            let report = try await context.push()
            #expect(report.pushed == 2 && report.failures.map(\.itemID) == ["a"])
            #expect(try await context.status().pending == 1, "it is sent again")
            world.emulator.clearFaults()
            #expect(try await context.push().pushed == 1)
            #expect(world.onServer() == ["a": "mine", "c": "bread"])
        }
    }

    @Test(
        "is laid aside in the end where its row can be looked up, and holds nothing up meanwhile",
        arguments: [404, 410]
    )
    func lookedUp(_ status: Int) async throws {
        try await world(.html(status, "<h1>Status code \(status)</h1>")) { world in
            let (context, table) = (world.laptop.context, world.laptop.table)
            for _ in 0..<2 {
                #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
            }
            #expect(try await context.push().pushed == 2)
            for number in 0..<6 {
                try await table.insert(["text": "later"], id: "later\(number)")
                #expect(try await context.push().pushed == 1)
            }
            #expect(try await context.operationErrors().map(\.itemID) == ["a"])
            #expect(try await context.status().failed == 1)
            world.emulator.clearFaults()
            #expect(try await context.retryRefused() == 1)
            #expect(try await context.push().pushed == 1)
            #expect(world.onServer()["a"] == "mine")
        }
    }

    /// A device with nothing yet, and its server.
    private func device(assignsIDs: Bool) throws -> (Emulator, SyncContext) {
        let definition = TableDefinition("TodoItem", columns: todoTable.columns, assignsIDs: assignsIDs)
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem"]))
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator)
        )
        return (emulator, SyncContext(store: try makeStore(definition), remote: remote))
    }

    @Test("and that was looked up before lays nothing aside for one who may not write", arguments: [false, true])
    func readOnlyAfterLookUp(assignsIDs: Bool) async throws {
        let (emulator, context) = try device(assignsIDs: assignsIDs)
        let table = try context.table("TodoItem")
        try await table.insert(["text": "first"])
        emulator.inject(.respond(EmulatorResponse(500), times: 1) { $0.method == "POST" })
        _ = try await context.push()
        for text in ["second", "third"] { try await table.insert(["text": .string(text)]) }
        emulator.inject(.respond(EmulatorResponse(403), times: 999) { $0.method == "POST" })
        for _ in 0..<4 {
            #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedAuthentication)
            #expect(try await context.status().failed == 0)
        }
        emulator.clearFaults()
        #expect(try await context.push().pushed == 3)
        let texts = emulator.rows(in: "TodoItem").compactMap { $0["text"]?.string }
        #expect(texts.sorted() == ["first", "second", "third"])
    }

    @Test("that a server may have stored under an id of its own is not sent twice to find out")
    func storedUnderItsOwnID() async throws {
        let (emulator, context) = try device(assignsIDs: true)
        try await context.table("TodoItem").insert(["text": "blocked"])
        let posts = Atomic(0)
        emulator.inject(
            .respond(Self.page, times: 999) { request in
                guard request.method == "POST" else { return false }
                posts.add(1, ordering: .relaxed)
                return true
            }
        )
        for number in 1...2 {
            #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
            #expect(posts.load(ordering: .relaxed) == number)
        }
        #expect(try await context.push().failures.count == 1)
        #expect(posts.load(ordering: .relaxed) == 3)
    }

    @Test("by a 401 is sent once more where the server chooses ids as well: it has stored nothing")
    func signedInAgain() async throws {
        let (emulator, context) = try device(assignsIDs: true)
        try await context.table("TodoItem").insert(["text": "milk"])
        emulator.inject(.respond(EmulatorResponse(401), times: 3) { $0.method == "POST" })
        for _ in 0..<2 {
            #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedAuthentication)
        }
        #expect(try await context.push().pushed == 1)
        #expect(emulator.rows(in: "TodoItem").count == 1)
    }

    @Test("counts for nothing while the table does not answer either", arguments: [EmulatorResponse(401), page])
    func everything(_ answer: EmulatorResponse) async throws {
        try await world(answer) { world in
            let context = world.laptop.context
            world.emulator.inject(.respond(answer, times: 99))
            for _ in 0..<6 {
                let code = try await syncErrorCode { _ = try await context.push() }
                #expect(code == (answer.status == 401 ? .pushAbortedAuthentication : .pushAbortedNetwork))
            }
            #expect(try await context.operationErrors().isEmpty)
            world.emulator.clearFaults()
            #expect(try await context.push().pushed == 3)
        }
    }

    @Test(
        "stands aside also where it is alone, or others of its kind are beside it, one after the other or several at a time",
        arguments: [1, 2, 4],
        [1, 4]
    )
    func several(_ count: Int, parallel: Int) async throws {
        try await SyncWorld.with(.datasync) { world in
            let remote = try DatasyncRemote(
                baseURL: EmulatorTransport.url,
                dialect: .datasync,
                transport: EmulatorTransport(world.emulator)
            )
            let context = SyncContext(
                store: world.laptop.store,
                remote: remote,
                options: SyncOptions(parallelOperations: parallel)
            )
            let table = try context.table("TodoItem")
            for number in 0..<count { try await table.insert(["text": "bad"], id: "bad\(number)") }
            if count > 1 { try await table.insert(["text": "good"], id: "good") }
            world.emulator.inject(
                .respond(Self.page, times: 999) { request in
                    request.method == "POST" && String(decoding: request.body, as: UTF8.self).contains("bad")
                }
            )
            for _ in 0..<3 * count {
                do { _ = try await context.push() } catch let error as SyncError {
                    #expect(error.code == .pushAbortedNetwork)
                }
            }
            #expect(try await context.status().failed == count)
            #expect(world.onServer() == (count > 1 ? ["good": "good"] : [:]))
        }
    }

    @Test("stands aside where it alone is answered by a 401")
    func forbiddenAlone() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await world.phone.table.insert(["text": "theirs"], id: "a")
            _ = try await world.phone.context.push()
            try await laptop.table.insert(["text": "bad"], id: "bad")
            world.emulator.inject(.respond(EmulatorResponse(401), times: 999) { $0.method == "POST" })
            for _ in 0..<2 {
                #expect(try await syncErrorCode { _ = try await laptop.context.sync() } == .pushAbortedAuthentication)
                #expect(try await laptop.context.status().failed == 0)
            }
            let report = try await laptop.context.sync()
            #expect(report.push.failures.map(\.status) == [401])
            #expect(try await laptop.texts() == ["a": "theirs", "bad": "bad"])
        }
    }

    @Test(
        "for one who may not write: what others change is pulled all the same, and nothing is laid aside",
        arguments: [1, 2]
    )
    func readOnly(_ count: Int) async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await world.phone.table.insert(["text": "theirs"], id: "a")
            _ = try await world.phone.context.push()
            for number in 0..<count { try await laptop.table.insert(["text": "bad"], id: "bad\(number)") }
            world.emulator.inject(.respond(EmulatorResponse(403), times: 999) { $0.method == "POST" })
            for number in 0..<6 {
                let error = await #expect(throws: SyncError.self) {
                    if number.isMultiple(of: 2) { _ = try await laptop.context.sync() } else { try await laptop.pull() }
                }
                #expect(error?.code == .pushAbortedAuthentication)
                #expect(error?.push?.pushed == 0)
                #expect(error?.pull?.received == (number == 0 ? 1 : 0), "what came is told")
                #expect(try await laptop.text("a") == "theirs")
            }
            #expect(try await laptop.context.status().failed == 0)
        }
    }

    @Test(
        "are no reason to lay anything aside where they are all that there are",
        arguments: [page, .html(400, "<h1>400</h1>"), .html(404, "<h1>404</h1>")]
    )
    func allBlocked(_ answer: EmulatorResponse) async throws {
        try await world(answer) { world async throws in
            let context = world.laptop.context
            world.emulator.inject(.respond(answer, times: 999) { $0.method != "GET" })
            for _ in 0..<12 {
                #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
            }
            #expect(try await context.operationErrors().isEmpty)
            #expect(try await context.status().pending == 3)
            world.emulator.clearFaults()
            #expect(try await context.push().pushed == 3)
        }
    }

    @Test("that was answered once it is sent again is taken")
    func sentAgain() async throws {
        try await world(Self.page) { world async throws in
            let context = world.laptop.context
            for _ in 0..<2 { #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork) }
            world.emulator.clearFaults()
            world.emulator.inject(.respond(Self.page, times: 1) { $0.method == "PUT" })
            #expect(try await context.push().pushed == 3)
            let left = try await world.laptop.store.read(Query(SystemTables.configuration.name)).records
            #expect(!left.contains { $0["keyType"] == 1_032 }, "nothing is left of it")
        }
    }

    @Test("is the user's fault where every change is forbidden: nothing is laid aside")
    func everyChange() async throws {
        try await world(EmulatorResponse(401)) { world async throws in
            let context = world.laptop.context
            world.emulator.inject(.respond(EmulatorResponse(401), times: 99) { $0.method != "GET" })
            for _ in 0..<6 {
                #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedAuthentication)
            }
            #expect(try await context.operationErrors().isEmpty)
            #expect(try await context.status().pending == 3)
        }
    }

    @Test("is known as one also where every push is made by another process", arguments: [EmulatorResponse(401), page])
    func restarted(_ answer: EmulatorResponse) async throws {
        try await world(answer) { world in
            var laptop = world.laptop
            for _ in 0..<2 {
                laptop = try await laptop.restarted()
                _ = try await syncErrorCode { [context = laptop.context] in _ = try await context.push() }
            }
            laptop = try await laptop.restarted()
            #expect(try await laptop.store.verifyQueue().isEmpty)
            let report = try await laptop.context.push()
            #expect(report.pushed == 2 && report.failures.map(\.itemID) == ["a"])
            world.emulator.clearFaults()
            #expect(try await laptop.context.retryRefused() == 1)
            #expect(try await laptop.context.push().pushed == 1)
            let left = try await laptop.store.read(Query(SystemTables.configuration.name)).records
            #expect(!left.contains { $0["keyType"] == 1_032 }, "nothing is left of it")
        }
    }

    @Test("an edit, or another change that comes first, begins anew")
    func edited() async throws {
        try await world(Self.page) { world in
            let laptop = world.laptop
            for round in 0..<4 {
                #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedNetwork)
                try await laptop.table.update(Record(id: "a", ["text": .string("mine \(round)")]))
            }
            #expect(try await laptop.context.operationErrors().isEmpty)
        }
    }

    @Test("while a server fails on everything no change is laid aside, however often it is tried")
    func failing() async throws {
        try await world(EmulatorResponse(500)) { world async throws in
            let context = world.laptop.context
            world.emulator.clearFaults()
            world.emulator.inject(.respond(EmulatorResponse(500), times: 9_999))
            for _ in 0..<12 {
                do { _ = try await context.push() } catch let error as SyncError {
                    #expect(error.code == .pushAbortedNetwork)
                }
            }
            #expect(try await context.status().failed == 0)
            #expect(try await context.status().pending == 3)
            world.emulator.clearFaults()
            #expect(try await context.push().pushed == 3)
            #expect(world.onServer() == ["a": "mine", "c": "bread"])
        }
    }

    @Test("ends them, while a server fails on everything, with the time at which it asks to come back")
    func failingUntil() async throws {
        try await SyncWorld.with(.datasync) { world async throws in
            let context = world.laptop.context
            try await world.laptop.table.insert(["text": "bread"], id: "c")
            let failure = EmulatorResponse(500, headers: ["Retry-After": "9"])
            world.emulator.inject(.respond(failure, times: 9_999))
            // The first ones leave it to be tried again.
            var ending: SyncError?
            for _ in 0..<9 where ending == nil {
                do { _ = try await context.push() } catch let error as SyncError { ending = error }
            }
            #expect(ending?.code == .pushAbortedNetwork)
            #expect((ending?.cause as? RemoteError)?.retryAfter == .seconds(9))
        }
    }

    @Test("a page in place of a row that is asked for by its id stops no pull", arguments: [403, 404])
    func refetched(_ status: Int) async throws {
        try await SyncWorld.with(.datasync) { world in
            for id in ["a", "b"] { try await world.shareItem(id) }
            let laptop = world.laptop
            try await laptop.store.upsert(
                [Record(id: "mark", ["table": "TodoItem", "keyType": 1_000, "key": "a"])],
                table: SystemTables.configuration.name
            )
            let page = EmulatorResponse.html(status, "<h1>\(status)</h1>")
            world.emulator.inject(.respond(page, times: 99) { $0.method == "GET" && $0.path.hasSuffix("/a") })
            try await world.phone.table.update(Record(id: "b", ["text": "news"]))
            _ = try await world.phone.context.push()
            try await laptop.pull()
            #expect(try await laptop.texts()["b"] == "news")
            world.emulator.clearFaults()
            try await laptop.pull()
            #expect(try await laptop.texts() == ["a": "milk", "b": "news"])
        }
    }

    @Test("a page in front of the server is none of a table's answers, whatever names its columns have here")
    func otherNames() async throws {
        try await SyncWorld.with(.datasync, laptopTable: WireNameTests.note) { world in
            let laptop = world.laptop
            for id in ["a", "b"] { try await laptop.table.insert([laptop.textColumn: "mine"], id: id) }
            world.emulator.inject(.respond(Self.page, times: 99) { $0.method != "GET" })
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedNetwork)
            #expect(try await laptop.context.status().failed == 0)
            world.emulator.clearFaults()
            #expect(try await laptop.context.push().pushed == 2)
        }
    }
}
