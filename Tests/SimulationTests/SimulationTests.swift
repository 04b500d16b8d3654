import Foundation
import ReferenceStore
import SeededNumbers
import Simulation
import SyncContract
import Testing

@Suite("Simulation")
struct SimulationTests {
    private static let simulation = Simulation { MemoryStore($0) }

    @Test("some seeds")
    func seeds() async throws {
        let first = SeededGenerator.chosenSeed ?? 1
        let count = Int(ProcessInfo.processInfo.environment["SIM"] ?? "") ?? 20
        let start = Date()
        var requests = 0
        var kinds: [String: (Int, UInt64)] = [:]
        for seed in first..<first + UInt64(count) {
            let outcome = try Self.simulation.run(seed: seed)
            requests += outcome.requests
            if let failure = outcome.failures.first {
                let key = Simulation.kind(failure)
                kinds[key] = ((kinds[key]?.0 ?? 0) + 1, kinds[key]?.1 ?? seed)
            }
        }
        print("requests", requests, "seconds", Date().timeIntervalSince(start))
        for (kind, (count, seed)) in kinds.sorted(by: { $0.value.0 > $1.value.0 }) { print(count, kind, "first", seed) }
        for seed in (ProcessInfo.processInfo.environment["STORY"] ?? "").split(separator: ",").compactMap({ UInt64($0) }) {
            let outcome = try Self.simulation.run(seed: seed)
            print(try Self.simulation.report(on: outcome))
        }
    }
}
