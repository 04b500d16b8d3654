import Testing

@testable import StoreKeys

@Suite("Calibrated costs")
struct CalibrationTests {
    @Test(
        "whatever is asked for, a cost is at or above the floor and within the limits",
        arguments: [8 << 20, 16 << 20, 100 << 20, 128 << 20, 1 << 30, 1 << 40],
        [Duration.zero, .milliseconds(1), .milliseconds(700), .seconds(60), .seconds(100_000)]
    )
    func bounds(maximumMemory: Int, duration: Duration) throws {
        for elapsed in [Duration.zero, .milliseconds(1), .milliseconds(300), .seconds(1000)] {
            let start = try ScryptCost.leastCost(within: maximumMemory)
            let cost = ScryptCost.calibrated(
                from: start,
                taking: elapsed,
                for: duration,
                maximumMemory: maximumMemory
            )
            #expect(cost.memory <= maximumMemory)
            // The public initializer refuses what is below the floor or above the limits.
            _ = try ScryptCost(
                log2N: cost.log2N,
                blockSize: cost.blockSize,
                parallelization: cost.parallelization
            )
            if duration <= elapsed { #expect(cost == start) }
        }
    }

    @Test("more time buys memory first, then passes")
    func growth() throws {
        func cost(_ duration: Duration, _ memory: Int) throws -> ScryptCost {
            ScryptCost.calibrated(
                from: try .leastCost(within: memory),
                taking: .milliseconds(100),
                for: duration,
                maximumMemory: memory
            )
        }
        #expect(try cost(.milliseconds(199), 1 << 30) == .memory128MiB)
        #expect(try cost(.milliseconds(400), 1 << 30) == ScryptCost(log2N: 19, blockSize: 8, parallelization: 1))
        #expect(try cost(.milliseconds(400), 128 << 20) == ScryptCost(log2N: 17, blockSize: 8, parallelization: 4))
        #expect(try cost(.milliseconds(100), 32 << 20) == .memory32MiB)
    }

    @Test("less than 8 MiB is refused")
    func tooLittle() {
        #expect(throws: KeyError.self) { try ScryptCost.leastCost(within: (8 << 20) - 1) }
    }

    @Test("a measured cost can be written")
    func measured() async throws {
        let cost = try await ScryptCost.calibrated(for: .zero, maximumMemory: 8 << 20)
        #expect(cost == .memory8MiB)
    }
}
