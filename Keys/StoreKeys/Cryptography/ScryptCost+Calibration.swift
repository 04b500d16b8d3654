import SecretMemory

extension ScryptCost {
    /// Chooses a cost for this machine by measuring it: as much as fits into a time and a memory, and never below the
    /// floor.
    ///
    /// - Parameters:
    ///   - duration: How long one derivation may take, about. On a machine that is too slow the floor takes longer.
    ///   - maximumMemory: How many bytes it may need: at least 8 MiB, what the smallest named cost needs.
    /// - Returns: A cost; another one on another machine, or under another load.
    /// - Throws: `KeyError` with code `invalidParameters` if the memory is below 8 MiB, or `cryptographyUnavailable`;
    ///   `CancellationError`.
    public static func calibrated(
        for duration: Duration = .milliseconds(500),
        maximumMemory: Int = 128 << 20
    ) async throws -> ScryptCost {
        try await KeyError.convertingMemoryErrors {
            let start = try leastCost(within: maximumMemory)
            let elapsed = try await BlockingWork.run {
                let passphrase = try SecretBytes.random(count: AES256GCM.keyCount)
                return try ContinuousClock()
                    .measure {
                        _ = try Scrypt.deriveKey(from: passphrase, salt: [0], cost: start, count: AES256GCM.keyCount)
                    }
            }
            return calibrated(from: start, taking: elapsed, for: duration, maximumMemory: maximumMemory)
        }
    }

    /// The largest cost at the floor that a memory allows.
    package static func leastCost(within maximumMemory: Int) throws(KeyError) -> ScryptCost {
        guard let cost = floor.first(where: { $0.memory <= maximumMemory }) else {
            throw KeyError(.invalidParameters, "Scrypt needs at least 8 MiB of memory for a passphrase.")
        }
        return cost
    }

    /// Grows a cost whose time is known: first the memory, which attackers pay most for, then the number of passes.
    package static func calibrated(
        from start: ScryptCost,
        taking elapsed: Duration,
        for duration: Duration,
        maximumMemory: Int
    ) -> ScryptCost {
        var (cost, elapsed) = (start, max(elapsed, .nanoseconds(1)))
        while true {
            let doubled = ScryptCost(unchecked: cost.log2N + 1, cost.blockSize, cost.parallelization)
            guard elapsed * 2 <= duration, doubled.isWithinLimits, doubled.memory <= maximumMemory else { break }
            (cost, elapsed) = (doubled, elapsed * 2)
        }
        let perPass = elapsed / cost.parallelization
        while true {
            let longer = ScryptCost(unchecked: cost.log2N, cost.blockSize, cost.parallelization + 1)
            guard perPass * longer.parallelization <= duration, longer.isWithinLimits else { break }
            cost = longer
        }
        return cost
    }
}
