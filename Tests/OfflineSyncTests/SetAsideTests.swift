import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import HTTPTransport
import OfflineSync
import RemoteContract
import SyncContract
import Testing

@Suite("Rows that a pull sets aside")
struct SetAsideTests {
    @Test("hold no others up, are named, and come with their next change")
    func unfit() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try world.emulator.seed(
                [
                    ["id": "a", "text": "milk"], ["id": "b", "text": "bread", "due": "soon"],
                    ["id": "c", "text": "tea"],
                ],
                in: "TodoItem"
            )
            let first = try await world.laptop.pull()
            #expect(try await world.laptop.texts() == ["a": "milk", "c": "tea"])
            #expect(first.setAside.map(\.id) == ["b"])
            #expect(first.setAside.first?.reason.contains("due") == true)
            #expect(first.setAside.first?.reason.contains("soon") == false)

            let second = try await world.laptop.pull()
            #expect(second.setAside.isEmpty && second.notFetched == 0)
            #expect(second.requests == 1, "it is not asked for by every pull")
            let listed = try await world.laptop.context.setAsideRows()
            #expect(listed.map(\.itemID) == ["b"] && listed.map(\.table) == ["TodoItem"])
            #expect(listed.map(\.reason) == first.setAside.map(\.reason))
            #expect(try await world.laptop.context.status().setAside == 1)

            try world.emulator.seed([["id": "b", "text": "bread", "due": nil]], in: "TodoItem")
            let third = try await world.laptop.pull()
            #expect(third.setAside.isEmpty && third.notFetched == 0)
            #expect(try await world.laptop.texts() == world.onServer())
            #expect(try await world.laptop.context.setAsideRows().isEmpty)
            #expect(try await world.laptop.pull().requests == 1)
        }
    }

    @Test("are no burden to later pulls, however many they are")
    func many() async throws {
        try await SyncWorld.with(.datasync, age: 60_000) { world in
            try world.emulator.seed((0..<130).map { ["id": .string("r\($0)"), "due": "soon"] }, in: "TodoItem")
            #expect(try await world.laptop.pull().setAside.count == 130)
            #expect(try await world.laptop.pull().requests == 1)
            #expect(try await world.laptop.context.status().setAside == 130)
        }
    }

    @Test("do not stop later pulls when their answer breaks off")
    func breaksOff() async throws {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem"]))
        try emulator.seed(["a", "b", "c"].map { ["id": .string($0), "text": "milk"] }, in: "TodoItem")
        let context = SyncContext(
            store: try makeStore(),
            remote: try DatasyncRemote(
                baseURL: EmulatorTransport.url,
                dialect: .datasync,
                transport: BreakingOffTransport(emulator: EmulatorTransport(emulator))
            )
        )
        let query = Query("TodoItem")
        #expect(try await context.pull(query, queryID: "all").setAside.map(\.id) == ["b"])
        try emulator.seed([["id": "d", "text": "tea"]], in: "TodoItem")
        let second = try await context.pull(query, queryID: "all")
        #expect(second.setAside.map(\.id) == ["b"] && second.notFetched == 0)
        #expect(try await context.setAsideRows().map(\.itemID) == ["b"])
        #expect(
            try await context.store.read(Query("TodoItem")).records.compactMap(\.id.stringValue).sorted() == [
                "a", "c", "d",
            ]
        )
    }
}

/// Loses the connection in the middle of every answer that holds the content of the row `b`.
private struct BreakingOffTransport: ClientTransport {
    let emulator: EmulatorTransport

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let response = try await emulator.send(request)
        guard String(decoding: response.body, as: UTF8.self).contains(/"text":"milk"[^}]*"id":"b"|"id":"b"[^}]*"text"/)
        else { return response }
        throw TransportError(.connectionLost, "broken off, on purpose", fate: .mayHaveBeenProcessed)
    }
}
