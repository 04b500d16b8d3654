import SQLCipherStore
import SQLCipherStoreTestSupport
import SeededNumbers
import Simulation
import SyncContract
import Testing

@Suite("Devices with encrypted stores and a hostile network")
struct EncryptedSimulationTests {
    @Test("lose nothing either", arguments: 1...SeededGenerator.rounds(6, all: 60))
    func encrypted(_ number: Int) async throws {
        let seed = UInt64(number) &+ 10_000
        let settings = WorldSettings(seed: seed)
        let folders = try (0..<settings.deviceCount).map { _ in try TestFolder() }
        var opened: [EncryptedStore] = []
        for folder in folders { opened.append(try await EncryptedStore.open(in: folder, settings.schema.tables)) }
        let stores = opened
        let outcomes = try await OnThreads.map([seed]) { Simulation.run(seed: $0, stores: stores) }
        for store in stores { await store.close() }
        #expect(outcomes[0].requests >= 50)
        #expect(outcomes[0].failures.isEmpty, "seed \(seed)")
    }
}
