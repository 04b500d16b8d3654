import Foundation
import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import Testing

@Suite("What people read about a sync that failed")
struct MessageTests {
    private static func context(_ error: RemoteError) async throws -> SyncContext {
        let context = SyncContext(store: try makeStore(), remote: UnavailableRemote(error))
        try await context.table("TodoItem").insert([:], id: "a")
        return context
    }

    @Test("says what becomes of the changes, and what is to be done")
    func cause() async throws {
        let context = try await Self.context(RemoteError(.unreachable, "Check the address."))
        let pushed = try #require(await #expect(throws: SyncError.self) { try await context.push() })
        #expect((pushed as any Error).localizedDescription == pushed.message + " Check the address.")
        let pull = PullOptions(order: .pullFirst)
        let pulled = try #require(
            await #expect(throws: SyncError.self) { try await context.pull(Query("TodoItem"), options: pull) }
        )
        #expect((pulled as any Error).localizedDescription == pulled.message + " Check the address.")
    }

    @Test("does not say the same twice when the store was closed")
    func closed() async throws {
        let (isClosed, server) = (Switch(), GroupServer())
        let store = FaultyStore(try makeStore()) { _ in
            isClosed.isOn ? .fails(.beforeClosure, StoreError(.closed, "Open it.")) : nil
        }
        let context = SyncContext(store: store, remote: server)
        try await context.table("TodoItem").insert([:], id: "a")
        server.script = { _ in isClosed.isOn = true }
        let error = try #require(await #expect(throws: SyncError.self) { try await context.push() })
        #expect((error as any Error).localizedDescription == error.message)
    }
}
