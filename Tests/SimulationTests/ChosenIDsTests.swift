import ReferenceStore
import SeededNumbers
import Simulation
import SyncContract
import Testing

@Suite("Devices whose server chooses the ids")
struct ChosenIDsTests {
    @Test(
        "have no row twice, and every reference leads to its row",
        arguments: 1...SeededGenerator.rounds(60, all: 600)
    )
    func seeds(_ number: Int) async throws {
        let seed = UInt64(number)
        let schema = try StoreSchema(ChosenIDs.tables)
        let stores = (0..<(2 + number % 2)).map { _ in MemoryStore(schema) }
        let failures = try await ChosenIDs.failures(seed: seed, stores: stores)
        #expect(failures.isEmpty, "seed \(seed)")
    }
}
