import OfflineSync
import ReferenceStore
import SQLCipherStoreTestSupport
import StoreConformance
import SyncContract
import Testing

@testable import Attachments

@Suite("A look at what there is to carry")
struct LookTests {
    @Test("is put off while a push records one answer after the other, and is one at its end")
    func push() async throws {
        let store = FaultyStore(MemoryStore(try PhotoDevice.schema())) { _ in nil }
        let work = AttachmentWork(
            store: store,
            folder: AttachmentFolder(try TestFolder().url),
            references: AttachmentReferences(store.schema),
            transport: FaultyTransport(),
            spaceLimit: 0,
            ahead: nil,
            environment: AttachmentEnvironment(),
            states: AttachmentStates { _ in .unknown },
            gate: AttachmentGate()
        )
        let runner = TransferRunner(work, limit: 1)
        try await runner.prepare()
        /// How often the store was read meanwhile.
        func looks(_ body: () async -> Void) async -> Int {
            let before = store.callCount
            await body()
            return store.callCount - before
        }
        let answer = StoreChange(tables: [SystemTables.operations.name, AttachmentFiles.table.name, "Coupon"])
        #expect(await looks { await runner.changed(answer) } == 1)
        await runner.pushing(true)
        #expect(await looks { for _ in 0..<100 { await runner.changed(answer) } } == 0)
        // What the app asks for is no part of a push.
        #expect(await looks { await runner.changed(StoreChange(tables: [AttachmentFiles.table.name])) } == 1)
        #expect(await looks { await runner.look() } == 1)
        #expect(await looks { await runner.pushing(false) } == 1)
        #expect(await looks { await runner.changed(answer) } == 1)
    }
}
