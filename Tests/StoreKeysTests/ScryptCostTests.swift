import SecretMemory
import Testing

@testable import StoreKeys

@Suite("Cost of a passphrase's slot")
struct ScryptCostTests {
    @Test("the named costs are OWASP's, and the default is the first")
    func named() {
        let costs: [ScryptCost] = [.memory128MiB, .memory64MiB, .memory32MiB, .memory16MiB, .memory8MiB]
        #expect(costs.map(\.log2N) == [17, 16, 15, 14, 13])
        #expect(costs.map(\.parallelization) == [1, 2, 3, 5, 10])
        #expect(costs.allSatisfy { $0.blockSize == 8 })
        #expect(costs.map { $0.memory >> 20 } == [128, 64, 32, 16, 8])
        #expect(ScryptCost.standard == .memory128MiB)
    }

    @Test(
        "a cost at or above a named one can be made",
        arguments: [(17, 8, 1), (16, 8, 2), (15, 8, 3), (14, 8, 5), (13, 8, 10), (13, 8, 64), (18, 8, 2), (20, 8, 1)]
    )
    func aboveFloor(log2N: Int, r: Int, p: Int) throws {
        let cost = try ScryptCost(log2N: log2N, blockSize: r, parallelization: p)
        #expect([cost.log2N, cost.blockSize, cost.parallelization] == [log2N, r, p])
    }

    @Test(
        "a cost below the floor or above the limits cannot be made",
        arguments: [
            (16, 8, 1), (15, 8, 2), (14, 8, 4), (13, 8, 9), (12, 8, 64), (17, 7, 1), (17, 4, 2), (4, 8, 1), (0, 8, 1),
            (21, 8, 1), (20, 9, 1), (17, 8, 65), (13, 8, 65), (20, 8, 9), (17, 0, 1), (17, 8, 0), (-1, 8, 1),
            (17, -8, 1),
            (17, 8, -1), (63, 8, 1), (64, 8, 1), (.max, .max, .max), (17, .max, 1), (17, 8, .max),
        ]
    )
    func refused(log2N: Int, r: Int, p: Int) async {
        #expect(
            await keyErrorCode { _ = try ScryptCost(log2N: log2N, blockSize: r, parallelization: p) }
                == .invalidParameters
        )
    }

    @Test(
        "a crafted slot's cost is refused before anything is allocated",
        arguments: [
            (UInt8(21), UInt32(8), UInt32(1)), (20, 9, 1), (23, 2, 1), (255, 8, 1), (63, 1, 1), (64, 1, 1), (0, 8, 1),
            (17, 8, 65), (4, 8, 65), (17, 8, .max), (17, .max, 1), (17, 1 << 31, 1), (17, 0, 1), (17, 8, 0), (16, 1, 1),
            (20, 8, 9), (1, 1 << 20, 9), (.max, .max, .max),
        ]
    )
    func crafted(log2N: UInt8, r: UInt32, p: UInt32) async throws {
        var writer = ByteWriter()
        writer.append(integer: log2N)
        writer.append(integer: r)
        writer.append(integer: p)
        writer.append([UInt8](repeating: 1, count: 16))
        let parameters = writer.bytes
        #expect(await keyErrorCode { _ = try ScryptSlotParameters(decoding: parameters) } == .invalidParameters)

        // The same through a whole file: an enrollment stands in for the one who crafts it.
        let folder = try TemporaryFolder()
        let rootKey = try SecretBytes.random(count: 32)
        let enrollment = try SlotEnrollment(secret: .random(count: 32), parameters: parameters)
        let file = try KeyslotFile(
            sealing: rootKey,
            dataKey: .random(count: 32),
            storeID: RandomSource.system.makeIdentifier(),
            slots: [NewSlot(kind: .passphrase, label: "", enrollment: enrollment)],
            createdMilliseconds: 0,
            random: .system
        )
        try write(file.encoded(), to: folder.keyslots)
        #expect(
            await keyErrorCode {
                _ = try await StoreKeyring.open(at: folder.keyslots, unlocker: PassphraseUnlocker.quick("any"))
            } == .invalidParameters
        )
    }

    /// In each pair the first cost, and whether it is more than the second.
    private static let pairs: [(Bool, ScryptCost, ScryptCost)] = [
        (false, cost(5, 8, 1), cost(5, 8, 1)),
        (true, cost(6, 8, 1), cost(5, 8, 1)),
        (false, cost(5, 8, 1), cost(6, 8, 1)),
        // The same memory, more work; and the same work, more memory.
        (true, cost(5, 8, 2), cost(5, 8, 1)),
        (false, cost(5, 8, 1), cost(5, 8, 2)),
        (true, cost(6, 8, 1), cost(5, 8, 2)),
        (false, cost(5, 8, 2), cost(6, 8, 1)),
        // More of one and less of the other is not more.
        (false, cost(6, 8, 1), cost(5, 8, 3)),
        (false, cost(5, 8, 3), cost(6, 8, 1)),
        (true, .memory128MiB, .memory16MiB),
        (false, .memory16MiB, .memory128MiB),
    ]

    private static func cost(_ log2N: Int, _ r: Int, _ p: Int) -> ScryptCost {
        .insecureForTests(log2N: log2N, blockSize: r, parallelization: p)
    }

    @Test("a cost is more than another with more memory or work, and less of neither", arguments: pairs)
    func comparison(isMore: Bool, cost: ScryptCost, other: ScryptCost) {
        #expect(cost.exceeds(other) == isMore)
    }

    @Test("a slot's parameters of another length are damage", arguments: [0, 1, 9, 24, 26, 100])
    func lengths(count: Int) async throws {
        let cost = try ScryptCost(log2N: 17, blockSize: 8, parallelization: 1)
        let right = ScryptSlotParameters(cost: cost, salt: Array(0..<16)).encoded
        #expect(right.count == 25)
        #expect(try ScryptSlotParameters(decoding: right).cost == cost)
        let wrong = Array((right + [UInt8](repeating: 0, count: 100)).prefix(count))
        #expect(await keyErrorCode { _ = try ScryptSlotParameters(decoding: wrong) } == .damagedFile)
    }
}
