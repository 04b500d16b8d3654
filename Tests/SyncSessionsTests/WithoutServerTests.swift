import DatasyncEmulator
import OfflineSync
import ReferenceStore
import SyncContract
import Testing

@testable import SyncSessions

@Suite("A store that is opened without a server")
struct WithoutServerTests {
    let emulator = SessionDevice.emulator()

    @Test("queues what is changed until it is opened with one again, and then everything is sent")
    func queues() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        for id in ["a", "b", "c"] { try await device.add(id, id: id) }
        try await device.session.wait(for: .both)
        await device.session.close()

        for round in 1...3 {
            let alone = SyncContext(store: device.store)
            let table = try alone.table("TodoItem")
            try await table.update(Record(id: "a", ["text": .string("edited \(round)")]))
            if round == 2 { try await table.delete("b") }
            try await alone.write { transaction in
                let item: [String: FieldValue] = ["text": .string("new \(round)"), "complete": false]
                try transaction.insert(item, id: "n\(round)", into: table)
                try transaction.update(Record(id: "c", ["text": .string("with new \(round)")]), in: table)
            }
        }
        #expect(try await device.context.status().pending == 6)
        #expect(try await device.context.operations().allSatisfy { !$0.isAttempted })
        #expect(emulator.texts() == ["a", "b", "c"])

        let again = try SessionDevice(emulator, device.store)
        again.session.start(keeping: [again.table])
        try await again.session.wait(for: .both)
        #expect(emulator.texts() == ["edited 3", "with new 3", "new 1", "new 2", "new 3"])
        #expect(try await again.context.operations().isEmpty)
        await again.session.close()
    }

    @Test("has a session that says why it does nothing, and whose waits end")
    func session() async throws {
        let context = SyncContext(store: MemoryStore(try StoreSchema([todoTable])))
        try await context.table("TodoItem").insert(["text": "milk"], id: "a")
        let session = context.session
        session.start()
        for await state in session.states where state == .failed { break }
        #expect((session.error as? SyncError)?.code == .unsupported)
        let error = await #expect(throws: SyncError.self) { try await session.wait(for: .upload) }
        #expect(error?.code == .sessionEnded)
        #expect(await session.reconnect() == .failedForGood)
        await session.close()
        #expect(try await context.status().pending == 1)
    }

    @Test("syncs all tables but those that stay on the device")
    func localOnly() async throws {
        let local = TableDefinition("Search", columns: [.init("text", .string)], isLocalOnly: true)
        let store = MemoryStore(try StoreSchema([todoTable, noteTable, local]))
        let device = try SessionDevice(emulator, store)
        let searches = try device.context.table("Search")
        try await searches.insert(["text": "milk"], id: "s")
        try await device.add("milk", id: "a")
        device.session.start()
        try await device.session.wait(for: .both)
        #expect(emulator.texts() == ["milk"] && device.session.error == nil)
        #expect(try await searches.read("s")?["text"] == "milk")
        #expect(emulator.requests.allSatisfy { !$0.request.path.contains("Search") })
        await device.session.close()
    }
}
