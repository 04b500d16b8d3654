import Foundation
import SeededNumbers
import Synchronization
import Testing

@testable import DatasyncEmulator

/// What makes the emulator a server to develop against.
struct DevelopmentServerTests {
    private func send(
        _ responder: DevelopmentResponder,
        _ emulator: Emulator,
        _ method: String,
        _ target: String,
        _ headers: HTTPHeaderFields = [:]
    ) async throws -> EmulatorResponse {
        try await responder.respond(EmulatorRequest(method, target, headers: headers), emulator)
    }

    @Test("rows of a file are loaded with their system members, and what is written out loads as the same rows")
    func files() async throws {
        let json = """
            {"todoitem": [{"id": "a", "text": "x", "updatedAt": "2024-01-02T03:04:05.0061234Z", "version": "YQ=="},
              {"id": "b", "deleted": true}], "other": []}
            """
        let make = { Client(tables: ["todoitem", "other"]) { $0.store.stamps = .hundredNanoseconds }.emulator }
        let first = make()
        try first.load(Data(json.utf8))
        let a = try #require(first.rows(in: "todoitem").first)
        #expect(a["text"] == "x" && a["updatedAt"] == "2024-01-02T03:04:05.006Z" && a["version"] == "YQ==")
        #expect(first.rows(in: "todoitem").last?["deleted"] == true)
        #expect(String(decoding: first.contents, as: UTF8.self).contains("2024-01-02T03:04:05.0061234Z"))
        let second = make()
        try second.load(first.contents)
        #expect(second.contents == first.contents)
        #expect(second.rows(in: "todoitem") == first.rows(in: "todoitem"))
    }

    @Test(
        "a file that cannot be loaded changes nothing and says where",
        arguments: [
            ("[]", EmulatorError.Code.invalidJSON, "object"), ("{", .invalidJSON, ""),
            ("{\"nope\": []}", .unknownTable, "nope"), ("{\"todoitem\": {}}", .invalidJSON, "todoitem"),
            ("{\"todoitem\": [{\"id\": \"1\"}, 5]}", .invalidRow, "Element 2"),
            ("{\"todoitem\": [{\"id\": \"1\"}, {\"updatedAt\": 5}]}", .invalidRow, "updatedAt"),
        ]
    )
    func brokenFiles(json: String, code: EmulatorError.Code, part: String) throws {
        let emulator = Client().emulator
        let error = #expect(throws: EmulatorError.self) { try emulator.load(Data(json.utf8)) }
        #expect(error?.code == code)
        #expect(part.isEmpty || error?.message.contains(part) == true)
        #expect(emulator.rows(in: "todoitem").isEmpty)
    }

    @Test("a reset brings the loaded rows back and drops everything else")
    func reset() async throws {
        let client = Client { $0.createsTablesOnDemand = true }
        try client.emulator.load(Data("{\"todoitem\": [{\"id\": \"a\", \"text\": \"x\"}]}".utf8))
        let before = client.emulator.contents
        _ = try await client.send("PUT", "/tables/todoitem/a", json: ["id": "a", "text": "y"])
        _ = try await client.send("POST", "/tables/new", json: ["id": "n"])
        client.emulator.inject(.drop())
        let responder = DevelopmentResponder()
        #expect(try await send(responder, client.emulator, "GET", "/__reset").status == 405)
        #expect(try await send(responder, client.emulator, "POST", "/__reset").status == 204)
        #expect(client.emulator.contents == before)
        #expect(client.emulator.pendingFaults == 0 && client.emulator.requests.isEmpty)
    }

    @Test("users see their own rows only, and who is none is told so")
    func users() async throws {
        let client = Client { $0.users = ["t1": "ann", "t2": "bob", "t3": "ann"] }
        let json = "{\"todoitem\": [{\"id\": \"a\", \"user\": \"ann\"}, {\"id\": \"both\"}]}"
        try client.emulator.load(Data(json.utf8))
        func get(_ token: String) async throws -> EmulatorResponse {
            try await client.send("GET", "/tables/todoitem", ["Authorization": "Bearer " + token])
        }
        #expect(try await get("t1").ids == ["a", "both"])
        #expect(try await get("t3").ids == ["a", "both"])
        #expect(try await get("t2").ids == ["both"])
        let refused = try await get("t4")
        #expect(refused.status == 401 && refused.headers["WWW-Authenticate"] == "Bearer")
        #expect(try await client.get("/tables/todoitem").status == 401)
        let bob: HTTPHeaderFields = ["Authorization": "Bearer t2"]
        #expect(try await client.send("GET", "/tables/todoitem/a", bob).status == 404)
        #expect(try await client.send("POST", "/tables/todoitem", bob, json: ["id": "a"]).status == 201)
        #expect(client.emulator.rows(in: "todoitem", of: "ann").count == 2)
        let copy = Client { $0.users = ["t1": "ann", "t2": "bob"] }.emulator
        try copy.load(client.emulator.contents)
        #expect(copy.rows(in: "todoitem", of: "bob").count == 2)
        #expect(throws: EmulatorError.self) {
            try copy.load(Data("{\"todoitem\": [{\"id\": \"x\", \"user\": \"eve\"}]}".utf8))
        }
    }

    @Test(
        "an id that another user has is taken where users share ids, his deleted rows included",
        arguments: [(EmulatorConfiguration.Edition.usual, 400), (.predecessor, 409)]
    )
    func sharedIDs(_ edition: EmulatorConfiguration.Edition, _ status: Int) async throws {
        let client = Client {
            $0.edition = edition
            $0.users = ["t1": "ann", "t2": "bob"]
            $0.usersShareIDs = true
        }
        func insert(_ id: String, _ token: String) async throws -> EmulatorResponse {
            let headers: HTTPHeaderFields = ["Authorization": "Bearer " + token, "ZUMO-API-VERSION": "3.0.0"]
            return try await client.send("POST", "/tables/todoitem", headers, json: ["id": .string(id)])
        }
        #expect(try await insert("a", "t1").status == 201)
        try client.emulator.seed([["id": "gone", "deleted": true]], in: "todoitem", of: "ann")
        for id in ["a", "gone"] {
            let refused = try await insert(id, "t2")
            #expect(refused.status == status && refused.body.isEmpty == (status == 400))
        }
        #expect(try await insert("a", "t1").status == 409, "one's own row is a conflict as always")
        #expect(try await insert("b", "t2").status == 201)
        #expect(client.emulator.rows(in: "todoitem", of: "bob").count == 1)
    }

    @Test("pages of an origin may read the answers and ask before they send")
    func origins() async throws {
        let emulator = Client().emulator
        let responder = DevelopmentResponder(origin: "http://localhost:5173")
        let list = try await send(responder, emulator, "GET", "/tables/todoitem")
        #expect(list.status == 200)
        #expect(list.headers["Access-Control-Allow-Origin"] == "http://localhost:5173")
        #expect(list.headers["Access-Control-Expose-Headers"]?.contains("ETag") == true)
        let preflight = try await send(
            responder,
            emulator,
            "OPTIONS",
            "/tables/todoitem/1",
            ["Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "if-match, authorization"]
        )
        #expect(preflight.status == 204)
        #expect(preflight.headers["Access-Control-Allow-Methods"]?.contains("PUT") == true)
        #expect(preflight.headers["Access-Control-Allow-Headers"] == "if-match, authorization")
        let none = try await send(DevelopmentResponder(), emulator, "GET", "/tables/todoitem")
        #expect(none.headers["Access-Control-Allow-Origin"] == nil)
    }

    @Test("a request is one line of the log, whatever it holds and however it ends")
    func log() async throws {
        let lines = Mutex<[String]>([])
        let responder = DevelopmentResponder { line in lines.withLock { $0.append(line) } }
        let emulator = Client().emulator
        _ = try await send(responder, emulator, "GET", "/tables/todoitem?a\u{1b}[31m\nb")
        emulator.inject(.drop())
        _ = try? await send(responder, emulator, "DELETE", "/tables/todoitem/1")
        let written = lines.withLock { $0 }
        #expect(written.count == 2)
        #expect(written[0].hasPrefix("GET /tables/todoitem?a?[31m?b -> 200, "))
        #expect(written[1].hasPrefix("DELETE /tables/todoitem/1 -> no answer, "))
    }

    @Test("faults come by chance as often as asked, of every kind, and repeat with the seed")
    func faults() throws {
        let seed = SeededGenerator.seed()
        func outcomes(_ rate: Double) -> [String] {
            var faults = RandomFaults(rate: rate, seed: seed)
            return (0..<2_000).map { _ in faults.next().map { "\($0)" } ?? "none" }
        }
        let tenth = outcomes(0.1)
        #expect((130...270).contains(tenth.count { $0 != "none" }))
        #expect(outcomes(0.1) == tenth)
        #expect(outcomes(0).allSatisfy { $0 == "none" })
        let all = outcomes(1)
        for kind in ["drop", "applyThenDrop", "delay", "applyTwice", "cut", "429", "500", "503", "502"] {
            #expect(all.contains { $0.contains(kind) }, "\(kind)")
        }
        #expect(!all.contains("none"))
    }

    @Test("a doubled insert is carried out twice and answered as the second time")
    func doubled() async throws {
        let client = Client()
        client.emulator.inject(.double())
        #expect(try await client.send("POST", "/tables/todoitem", json: ["id": "a"]).status == 409)
        #expect(client.emulator.rows(in: "todoitem").count == 1)
    }
}
