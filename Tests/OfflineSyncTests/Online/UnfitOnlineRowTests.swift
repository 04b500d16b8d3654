import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import RemoteContract
import SyncContract
import Testing

/// What a change begins with is a row of the server that its table here cannot hold.
@Suite("Changes of rows that do not fit, straight to the server")
struct UnfitOnlineRowTests {
    private func world(_ service: OnlineWorld.Service, deleted: Bool) throws -> OnlineWorld {
        let world = try OnlineWorld(service)
        try world.emulator.seed(
            [["id": "a", "text": 7, "complete": true, "deleted": .bool(deleted)]],
            in: "TodoItem"
        )
        return world
    }

    @Test("bring no deleted row back without its content", arguments: OnlineWorld.Service.allCases)
    func undelete(_ service: OnlineWorld.Service) async throws {
        let world = try world(service, deleted: true)
        let table = try world.context.remoteTable("TodoItem")
        let error = await #expect(throws: RemoteError.self) { try await table.undelete("a") }
        #expect(error?.code == .invalidResponse)
        let row = try #require(world.emulator.rows(in: "TodoItem").first)
        #expect(row["text"] == 7 && row["complete"] == true && row["deleted"] == true)
    }

    @Test("of which nothing was written do not say that anything was", arguments: OnlineWorld.Service.allCases)
    func patch(_ service: OnlineWorld.Service) async throws {
        guard service.dialect == .datasync else { return }
        let world = try world(service, deleted: false)
        let table = try world.context.remoteTable("TodoItem")
        let error = await #expect(throws: RemoteError.self) { try await table.patch("a", ["complete": false]) }
        #expect(error?.code == .invalidResponse && (error?.cause as? RemoteError)?.code == .unfitRow)
        #expect(world.emulator.rows(in: "TodoItem").first?["complete"] == true)
        // Nor does a deletion that nothing confirms.
        world.emulator.inject(.respond(EmulatorResponse(200), times: 2) { $0.method == "DELETE" })
        let unconfirmed = await #expect(throws: RemoteError.self) { try await table.delete("a") }
        #expect(unconfirmed?.code == .serverFailure)
        let other = await #expect(throws: RemoteError.self) { try await table.delete("a", version: "older") }
        #expect(other?.code == .conflict && (other?.cause as? RemoteError)?.code == .unfitRow)
    }

    @Test(
        "clear and replace values of other kinds in tables that are not declared",
        arguments: OnlineWorld.Service.allCases
    )
    func undeclared(_ service: OnlineWorld.Service) async throws {
        let table = try OnlineWorld(service).context.remoteTable("Other")
        try await table.insert(["count": 3, "price": 2.5], id: "a")
        #expect(try await table.patch("a", ["price": 3])["price"] == 3)
        #expect(try await table.patch("a", ["count": .null])["count"] ?? .null == .null)
        let read = try #require(try await table.read("a"))
        #expect(read["count"] ?? .null == .null)
        try await table.patch("a", ["count": 5])
        let error = await #expect(throws: RemoteError.self) { try await table.update(read) }
        #expect(error?.code == .conflict && error?.serverRecord?["price"] == 3)
    }
}
