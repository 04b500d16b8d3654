/// How the bytes of an answer are handed over, head and body counted together.
enum Delivery: Sendable, Equatable {
    case whole
    /// The connection ends after so many bytes.
    case cut(after: Int)
    /// The connection is reset after so many bytes have arrived.
    case reset(after: Int)
    /// So many bytes at a time, with a pause between two pieces.
    case dribble(byteCount: Int, pause: Duration)
    /// A pause after so many bytes.
    case stall(after: Int, pause: Duration)

    /// Whether the client gets all of the answer, if it waits for it.
    var isComplete: Bool {
        switch self {
        case .cut, .reset: false
        case .whole, .dribble, .stall: true
        }
    }

    /// How long handing over an answer of so many bytes takes; nil when it is not handed over whole.
    func pause(forByteCount count: Int) -> Duration? {
        switch self {
        case .cut, .reset: nil
        case .whole: .zero
        case .dribble(let byteCount, let pause): pause * (max(0, count - 1) / byteCount)
        case .stall(_, let pause): pause
        }
    }
}

/// Faults in the bytes of an answer. The request was carried out, and positions count from the first byte of the
/// answer's head, which an in-process caller does not have: there, an answer that is cut or reset is an error, and one
/// that is slow is a wait, a dribbled one as long as its body gives cause for.
extension Fault {
    /// Carries the request out, sends so many bytes of the answer and closes the connection.
    ///
    /// - Parameters:
    ///   - byteCount: How many bytes; where the answer has no more, it arrives whole. Over TLS the end is not announced
    ///     then, as if the server's process had ended.
    ///   - times: How many matching requests it happens to.
    ///   - matching: Which requests; all when left out.
    /// - Returns: The fault, to be given to `Emulator.inject`.
    public static func cut(
        after byteCount: Int,
        times: Int = 1,
        matching: @escaping @Sendable (EmulatorRequest) -> Bool = { _ in true }
    ) -> Fault {
        Fault(.applyThenDeliver(.cut(after: max(0, byteCount))), times: times, matching: matching)
    }

    /// Carries the request out, sends so many bytes of the answer and, when they have arrived, resets the connection.
    public static func reset(
        after byteCount: Int,
        times: Int = 1,
        matching: @escaping @Sendable (EmulatorRequest) -> Bool = { _ in true }
    ) -> Fault {
        Fault(.applyThenDeliver(.reset(after: max(0, byteCount))), times: times, matching: matching)
    }

    /// Carries the request out and sends the answer in pieces of so many bytes, at least one, with a pause between two
    /// of them. A server that stops sends the rest at once.
    public static func dribble(
        _ byteCount: Int,
        every pause: Duration,
        times: Int = 1,
        matching: @escaping @Sendable (EmulatorRequest) -> Bool = { _ in true }
    ) -> Fault {
        Fault(
            .applyThenDeliver(.dribble(byteCount: max(1, byteCount), pause: pause)),
            times: times,
            matching: matching
        )
    }

    /// Carries the request out, sends so many bytes of the answer, and the rest of it after a pause. A server that
    /// stops ends the pause.
    public static func stall(
        _ pause: Duration,
        after byteCount: Int,
        times: Int = 1,
        matching: @escaping @Sendable (EmulatorRequest) -> Bool = { _ in true }
    ) -> Fault {
        Fault(.applyThenDeliver(.stall(after: max(0, byteCount), pause: pause)), times: times, matching: matching)
    }
}
