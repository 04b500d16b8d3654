/// What the database behind a server does: things in which genuine servers differ, and with which clients have to cope.
public struct StoreBehaviour: Sendable {
    /// How fine the stamps in `updatedAt` are. Answers show whole milliseconds in any case, filters and orders compare
    /// the stamp as it is kept: of finer ones, a row's own `updatedAt` as shown is earlier than its stamp.
    public enum StampResolution: String, Sendable, CaseIterable {
        /// Whole milliseconds, as SQLite keeps them.
        case milliseconds = "ms"
        /// Microseconds, as PostgreSQL does.
        case microseconds = "us"
        /// Units of 100 nanoseconds, as Azure SQL does.
        case hundredNanoseconds = "100ns"

        /// In units of 100 nanoseconds.
        var ticks: Int64 {
            switch self {
            case .milliseconds: Timestamp.ticksPerMillisecond
            case .microseconds: 10
            case .hundredNanoseconds: 1
            }
        }
    }

    /// How fine the stamps are. What is finer than the clock's milliseconds is random and never zero.
    public var stamps = StampResolution.milliseconds
    /// Whether stamps are what the clock says, as on genuine servers: several writes may have the same, and where the clock is set
    /// back a later one an earlier stamp. Otherwise each is later than all before it.
    public var stampsFollowTheClock = false
    /// How much later than its stamp a row becomes visible at most; how much exactly is random for each write. Writes
    /// then overtake each other: a row can turn up behind stamps that were already read. The answer to a write comes
    /// when it is committed, and other requests go on meanwhile.
    ///
    /// A write is checked when it begins. What was changed by another one before it commits is told as
    /// ``hasConcurrencyToken`` says.
    public var commitDelay = Duration.zero
    /// Whether the database itself sees that a row has changed between a write's check and its commit. A Datasync server
    /// then answers 409 with the row, also to writes without `If-Match`. Without it both writes succeed and the first
    /// one's change is lost, which takes a ``commitDelay`` to happen.
    public var hasConcurrencyToken = true
    /// Whether an order puts nulls after all values, as PostgreSQL does, and before them when it descends. Otherwise it is
    /// the other way round.
    public var sortsNullsLast = false
    /// Whether texts, ids included, are equal when they differ in the case of the letters A to Z only, and are ordered
    /// without it, as a collation may have it.
    public var ignoresCase = false
    /// Whether writes are answered with the row as it was sent, while the database keeps it in a form of its own, which
    /// later reads show under the same version: numbers with two decimals, texts without spaces at their end. A Datasync server
    /// answers inserts so, and reads the row again before it answers an update.
    public var answersAsSent = false
    /// A column of the tables' that the database fills itself at every write, whatever was sent, as a trigger does: the answer
    /// to an insert does not show it, nor does the one to an update where the server does not read the row again. Nil: none.
    public var filledColumn: String?
    /// Whether every insert gets an id of the server's, whatever id was sent.
    public var assignsIDs = false
    /// What random choices start from; nil means that they are different each time.
    public var seed: UInt64?
    /// How a write waits for its commit: a test may wait for something else than time. A wait that ends early, because
    /// its task was cancelled, commits at once.
    public var pause: @Sendable (Duration) async -> Void = { duration in
        // A cancelled wait ends at once, as it does in a server that stops.
        try? await Task.sleep(for: duration)
    }

    /// Makes the behaviour of a store that commits at once.
    public init() {}

    /// A row as the database keeps it.
    func kept(_ row: EmulatedRow) -> EmulatedRow {
        var row = row
        if let filledColumn { row.values[filledColumn] = .string("of version " + row.version) }
        guard answersAsSent else { return row }
        row.values = row.values.mapValues { value in
            switch value {
            case .double(let number) where number.magnitude < 1e13: .double((number * 100).rounded() / 100)
            case .decimal(let digits): .decimal(Self.twoDecimals(digits))
            case .string(let text) where text.hasSuffix(" "):
                .string(String(text.reversed().drop { $0 == " " }.reversed()))
            default: value
            }
        }
        return row
    }

    private static func twoDecimals(_ digits: String) -> String {
        guard !digits.contains(where: { $0 == "e" || $0 == "E" }), let point = digits.firstIndex(of: ".") else {
            return digits
        }
        return String(digits[..<point] + digits[point...].prefix(3))
    }

    var effectiveSeed: UInt64 {
        seed ?? .random(in: .min ... .max)
    }
}
