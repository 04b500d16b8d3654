/// The cost of deriving a slot's secret from a passphrase with scrypt (RFC 7914).
///
/// One guess needs `128 · blockSize · 2^log2N` bytes of memory, `parallelization` times in sequence. Values can be made
/// at or above the floor that OWASP recommends only; the five equal ones at the floor trade memory for time.
public struct ScryptCost: Hashable, Sendable {
    /// The base-2 logarithm of scrypt's N.
    public let log2N: Int
    /// The parameter r of scrypt.
    public let blockSize: Int
    /// The parameter p of scrypt.
    public let parallelization: Int

    /// The default: 128 MiB, N = 2^17, r = 8, p = 1; about half a second on a server core.
    public static let standard = memory128MiB
    /// N = 2^17, r = 8, p = 1.
    public static let memory128MiB = ScryptCost(unchecked: 17, 8, 1)
    /// N = 2^16, r = 8, p = 2.
    public static let memory64MiB = ScryptCost(unchecked: 16, 8, 2)
    /// N = 2^15, r = 8, p = 3; for processes with little memory, such as app extensions.
    public static let memory32MiB = ScryptCost(unchecked: 15, 8, 3)
    /// N = 2^14, r = 8, p = 5.
    public static let memory16MiB = ScryptCost(unchecked: 14, 8, 5)
    /// N = 2^13, r = 8, p = 10.
    public static let memory8MiB = ScryptCost(unchecked: 13, 8, 10)

    /// The least that may be written: OWASP Password Storage Cheat Sheet, section scrypt.
    static let floor = [memory128MiB, memory64MiB, memory32MiB, memory16MiB, memory8MiB]

    /// Creates a cost of one's own.
    ///
    /// - Parameters:
    ///   - log2N: The base-2 logarithm of N.
    ///   - blockSize: The parameter r.
    ///   - parallelization: The parameter p.
    /// - Throws: `KeyError` with code `invalidParameters` if the cost is below every one of the five named values, or
    ///   above what an open would accept: 1 GiB of memory, p of 64, N · r · p of 2^26.
    public init(log2N: Int, blockSize: Int, parallelization: Int) throws(KeyError) {
        self.init(unchecked: log2N, blockSize, parallelization)
        try validateForReading()
        let isEnough = Self.floor.contains { least in
            log2N >= least.log2N && blockSize >= least.blockSize && parallelization >= least.parallelization
        }
        guard isEnough else {
            throw KeyError(
                .invalidParameters,
                "Scrypt with N = 2^\(log2N), r = \(blockSize), p = \(parallelization) is below the floor; "
                    + "take one of the named costs, such as .standard."
            )
        }
    }

    /// A cost below the floor, so that tests need not wait.
    package static func insecureForTests(log2N: Int, blockSize: Int, parallelization: Int) -> ScryptCost {
        ScryptCost(unchecked: log2N, blockSize, parallelization)
    }

    init(unchecked log2N: Int, _ blockSize: Int, _ parallelization: Int) {
        self.log2N = log2N
        self.blockSize = blockSize
        self.parallelization = parallelization
    }

    /// The size of scrypt's large table, in bytes. Only of a validated cost: else it may overflow.
    var memory: Int { 128 * blockSize << log2N }

    /// The time that one guess takes, in relation to other costs: N · r · p.
    public var work: Int { (blockSize << log2N) * parallelization }

    /// What opening a keyslot file may cost by default, over all slots that are tried: four times ``standard``.
    public static let maximumWorkOfOpening = 4 * standard.work

    /// Whether this is more than another cost in memory or work, and less in neither. Only of validated costs.
    func exceeds(_ other: ScryptCost) -> Bool {
        memory >= other.memory && work >= other.work && (memory > other.memory || work > other.work)
    }

    /// Refuses a cost that would exhaust the machine, without computing anything that may overflow.
    ///
    /// A file is read before it can be trusted, so its costs are an attacker's choice. A cost below the floor is no
    /// harm to the one who opens, and is accepted.
    func validateForReading() throws(KeyError) {
        guard isWithinLimits else {
            throw KeyError(
                .invalidParameters,
                "Scrypt with N = 2^\(log2N), r = \(blockSize), p = \(parallelization) is outside the limits "
                    + "(1 GiB of memory, p of 64, N * r * p of 2^26). If nobody chose this, the file was tampered with."
            )
        }
    }

    var isWithinLimits: Bool {
        // RFC 7914 section 2: N < 2^(128 · r / 8).
        (1...23).contains(log2N) && (1...(1 << 20)).contains(blockSize) && (1...64).contains(parallelization)
            && log2N < 16 * blockSize
            && blockSize << log2N <= 1 << 23 && blockSize * parallelization <= 1 << 23
            && (blockSize << log2N) * parallelization <= 1 << 26
    }
}
