import DatasyncHTTP
import OfflineSync
import ReferenceStore
import StoreConformance
import SyncContract
import Testing

@Suite("A store that is locked or closed under a push or pull")
struct UnavailableStoreTests {
    private static let codes = [StoreError.Code.locked, .closed]

    private func unavailable(
        _ store: MemoryStore,
        _ code: StoreError.Code,
        from isUnavailable: Switch
    ) -> FaultyStore<MemoryStore> {
        FaultyStore(store) { _ in
            isUnavailable.isOn ? .fails(.beforeClosure, StoreError(code, "on purpose")) : nil
        }
    }

    @Test("ends the push with an error that says so and what was done; nothing is lost", arguments: codes, [1, 8])
    func push(_ code: StoreError.Code, _ parallelOperations: Int) async throws {
        let store = try makeStore()
        let server = GroupServer()
        let isUnavailable = Switch()
        let context = SyncContext(
            store: unavailable(store, code, from: isUnavailable),
            remote: server,
            options: SyncOptions(parallelOperations: parallelOperations)
        )
        let todos = try context.table("TodoItem")
        for id in 1...40 { try await todos.insert(["text": "milk"], id: "\(id)") }
        server.script = { id in if id == "20" { isUnavailable.isOn = true } }
        let error = await #expect(throws: SyncError.self) { _ = try await context.push() }
        #expect(error?.code == .storeUnavailable)
        #expect((error?.cause as? StoreError)?.code == code)
        let told = try #require(error?.push?.pushed)
        #expect(told <= server.written.count)
        #expect(server.written.count < 40, "it does not go on for long")

        isUnavailable.isOn = false
        server.script = { _ in }
        let report = try await context.push()
        #expect(report.conflicts.isEmpty && report.failures.isEmpty)
        #expect(server.texts.count == 40)
        #expect(try await context.operations().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("is told alike when it is locked or closed before anything has begun", arguments: codes)
    func before(_ code: StoreError.Code) async throws {
        let isUnavailable = Switch()
        let store = unavailable(try makeStore(), code, from: isUnavailable)
        isUnavailable.isOn = true
        let calls: [(SyncContext) async throws -> Void] = [
            { _ = try await $0.push() }, { try await $0.pull(Query("TodoItem")) }, { _ = try await $0.sync() },
            { try await $0.pull(Query("TodoItem"), options: PullOptions(order: .pullOnly)) },
            { _ = try await $0.retrySetAsideRows() },
        ]
        for call in calls {
            let error = await #expect(throws: SyncError.self) {
                try await call(SyncContext(store: store, remote: GroupServer()))
            }
            #expect(error?.code == .storeUnavailable && (error?.cause as? StoreError)?.code == code)
        }
    }

    @Test("ends the pull with an error that says so; the next one goes on", arguments: codes)
    func pull(_ code: StoreError.Code) async throws {
        try await SyncWorld.with(.datasync, pageSize: 2) { world in
            for id in 1...5 { try await world.phone.table.insert(["text": "milk"], id: "\(id)") }
            _ = try await world.phone.context.push()
            let isUnavailable = Switch()
            let laptop = world.laptop
            let context = SyncContext(
                store: unavailable(laptop.store, code, from: isUnavailable),
                remote: laptop.server
            )
            let table = try context.table("TodoItem")
            laptop.server.afterNextPage { isUnavailable.isOn = true }
            #expect(try await syncErrorCode { try await table.pull(queryID: "all") } == .storeUnavailable)
            #expect(try await syncErrorCode { _ = try await context.sync() } == .storeUnavailable)
            isUnavailable.isOn = false
            try await table.pull(queryID: "all")
            #expect(try await laptop.texts().count == 5)
        }
    }
}
