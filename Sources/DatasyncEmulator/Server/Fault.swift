/// Something that goes wrong with the next matching requests, on purpose.
public struct Fault: Sendable {
    enum Action: Sendable {
        case respond(EmulatorResponse)
        case applyThenRespond(EmulatorResponse)
        case drop
        case applyThenDrop
        case applyTwice
        case delay(Duration)
        case applyThenDeliver(Delivery)
        case cutRequest(after: Int)
    }

    let action: Action
    var remaining: Int
    let matches: @Sendable (EmulatorRequest) -> Bool

    init(_ action: Action, times: Int, matching: @escaping @Sendable (EmulatorRequest) -> Bool) {
        self.action = action
        self.remaining = times
        self.matches = matching
    }

    /// Answers this instead; the request is not carried out.
    ///
    /// - Parameters:
    ///   - response: The answer, such as `EmulatorResponse(401)`, `.html(500, page)` or a 200 with a broken body.
    ///   - times: How many matching requests it happens to.
    ///   - matching: Which requests; all when left out.
    /// - Returns: The fault, to be given to `Emulator.inject`.
    public static func respond(
        _ response: EmulatorResponse,
        times: Int = 1,
        matching: @escaping @Sendable (EmulatorRequest) -> Bool = { _ in true }
    ) -> Fault {
        Fault(.respond(response), times: times, matching: matching)
    }

    /// Carries the request out and answers this instead of the truth.
    public static func applyThenRespond(
        _ response: EmulatorResponse,
        times: Int = 1,
        matching: @escaping @Sendable (EmulatorRequest) -> Bool = { _ in true }
    ) -> Fault {
        Fault(.applyThenRespond(response), times: times, matching: matching)
    }

    /// Closes the connection; the request is not carried out and no byte is answered.
    public static func drop(
        times: Int = 1,
        matching: @escaping @Sendable (EmulatorRequest) -> Bool = { _ in true }
    ) -> Fault {
        Fault(.drop, times: times, matching: matching)
    }

    /// Carries the request out and closes the connection without answering a byte: a lost answer.
    public static func applyThenDrop(
        times: Int = 1,
        matching: @escaping @Sendable (EmulatorRequest) -> Bool = { _ in true }
    ) -> Fault {
        Fault(.applyThenDrop, times: times, matching: matching)
    }

    /// Carries the request out twice, as when something on the way sends it again, and answers as the second time.
    public static func double(
        times: Int = 1,
        matching: @escaping @Sendable (EmulatorRequest) -> Bool = { _ in true }
    ) -> Fault {
        Fault(.applyTwice, times: times, matching: matching)
    }

    /// Takes so many bytes of the body of a request that brings a file, keeps them, and closes the connection without
    /// answering a byte. Any other request is not carried out.
    public static func cutRequest(
        after byteCount: Int,
        times: Int = 1,
        matching: @escaping @Sendable (EmulatorRequest) -> Bool = { _ in true }
    ) -> Fault {
        Fault(.cutRequest(after: max(0, byteCount)), times: times, matching: matching)
    }

    /// Waits, then serves the request as usual. A cancelled wait ends at once and the request is served.
    public static func delay(
        _ duration: Duration,
        times: Int = 1,
        matching: @escaping @Sendable (EmulatorRequest) -> Bool = { _ in true }
    ) -> Fault {
        Fault(.delay(duration), times: times, matching: matching)
    }
}
