import DatasyncEmulator
import DatasyncHTTP
import SyncContract
import SyncMachines
import Testing

@testable import OfflineSync

@Suite("Changes as they are stored")
struct StoredStateTests {
    /// Sets the stored state of the only operation.
    private func store(_ state: Int64, _ device: SyncWorld.Device) async throws {
        let number = try #require(try await device.context.operations().first?.id)
        try await device.store.upsert(
            [Record(id: .int64(number), ["state": .int64(state)])],
            table: SystemTables.operations.name
        )
    }

    private func storedState(_ device: SyncWorld.Device) async throws -> FieldValue? {
        try await device.store.read(Query(SystemTables.operations.name)).records.first?["state"]
    }

    @Test("a version that no request can name does not keep what is remembered of a row from being read")
    func oddVersion() throws {
        var memory = ItemMemory<Record>()
        memory.ownVersions = ["1", "A\nB", "2\t3", "4"]
        memory.sent = [SentRequest(.none)]
        let again = try ItemMemoryStorage.memory(in: ItemMemoryStorage.text(of: memory), todoTable)
        #expect(again.ownVersions == ["1", "4"] && again.sent == memory.sent)
    }

    @Test("one that an older version left to be sent again counts as failed, and is sent by the push before a pull")
    func retried() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "a")
            try await store(2, laptop)
            #expect(try await laptop.context.status().failed == 1)
            laptop.server.intercept(.requestLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            #expect(try await storedState(laptop) == 2, "it is still to be sent")
            #expect(try await laptop.pull().push?.pushed == 1)
            #expect(world.onServer() == ["a": "milk"])
        }
    }

    @Test("one that an older version left to be sent again is laid aside when it is refused")
    func retriedInVain() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "a")
            try await store(2, laptop)
            world.emulator.inject(.respond(EmulatorResponse(400), times: 1) { $0.method == "POST" })
            #expect(try await laptop.context.push().failures.count == 1)
            #expect(try await storedState(laptop) == 3)
            #expect(try await laptop.context.push().pushed == 0, "nothing is sent")
            #expect(world.onServer() == [:])
        }
    }

    @Test("one that is laid aside counts as failed, is shown as such, and is not sent; nothing is purged over it")
    func parked() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "a")
            try await store(3, laptop)
            let status = try await laptop.context.status()
            #expect(status.failed == 1 && status.pending == 0)
            #expect(try await laptop.table.syncStates() == ["a": .failed])
            #expect(try await laptop.pull().push == nil)
            #expect(
                try await syncErrorCode { try await laptop.table.purge() } == .purgeAbortedPendingChanges
            )
            try await laptop.table.update(Record(id: "a", ["text": "cream"]))
            #expect(try await storedState(laptop) == 0)
            #expect(try await laptop.context.push().pushed == 1)
        }
    }
}
