/// The body of a request, given piece by piece: a file, say, of which only a piece is in memory at a time.
public struct StreamedBody: Sendable {
    /// How long the body is, in bytes; not negative.
    public let length: Int64

    package let next: @Sendable () async throws -> [UInt8]?

    /// A body.
    ///
    /// - Parameters:
    ///   - length: How many bytes it has.
    ///   - next: Gives the next bytes, as many as are convenient, and nil at the end. It is called by one task at a time, when
    ///     the connection has taken most of what came before, and not before there is one: a request that was never sent
    ///     has taken nothing. The task is cancelled when the exchange ends early. What it throws ends the exchange, and is
    ///     thrown by it; so does a body that is shorter or longer than `length`.
    /// - Precondition: The length is not negative.
    public init(length: Int64, next: @escaping @Sendable () async throws -> [UInt8]?) {
        precondition(length >= 0, "a body has no negative length")
        self.length = length
        self.next = next
    }
}

/// What becomes of the body of an answer.
public enum BodyReception: Sendable {
    /// It is held in memory and becomes ``HTTPResponse/body``, up to ``TransportOptions/maximumBodySize``.
    case held

    /// It is given away piece by piece as it comes, and ``HTTPResponse/body`` stays empty.
    ///
    /// The closure gets the next bytes, in order, by one task at a time; while it works, little more is taken from the
    /// server, so that memory stays flat. The task is cancelled when the exchange is. What it throws ends the exchange and
    /// is thrown by it. A body of more bytes than `limit` ends the exchange with ``TransportError/Code/tooLarge``: before
    /// any of it when the head says so, otherwise when so many have come.
    case streamed(limit: Int64 = .max, _ receive: @Sendable (_ bytes: [UInt8]) async throws -> Void)
}

/// Decides from the head of an answer, whose body is still empty, what becomes of the body. It returns at once: it may be
/// called on a thread that other exchanges wait for. What it throws ends the exchange and is thrown by it.
public typealias ReceptionChoice = @Sendable (_ head: HTTPResponse) throws -> BodyReception

extension StreamedBody {
    /// Calls the source until it ends, and refuses a body that is not as long as it should be.
    ///
    /// - Parameter give: Takes a piece, and returns when there is room for another one; false when none is wanted any more.
    /// - Throws: What the source throws, and ``TransportError/Code/invalidRequest`` for a wrong length.
    func read(_ give: ([UInt8]) async -> Bool) async throws {
        var count: Int64 = 0
        while let piece = try await nextPiece() {
            count += Int64(piece.count)
            guard count <= length else { throw TransportError.wrongLength(length, isShort: false) }
            // Before the last piece, while the exchange cannot have ended well yet.
            if count == length, try await nextPiece() != nil {
                throw TransportError.wrongLength(length, isShort: false)
            }
            guard await give(piece) else { return }
            if count == length { return }
        }
        guard count == length else { throw TransportError.wrongLength(length, isShort: true) }
    }

    private func nextPiece() async throws -> [UInt8]? {
        while let piece = try await next() {
            if !piece.isEmpty { return piece }
        }
        return nil
    }
}

extension TransportError {
    fileprivate static func wrongLength(_ length: Int64, isShort: Bool) -> TransportError {
        TransportError(
            .invalidRequest,
            "The body of the request has \(isShort ? "fewer" : "more") than the \(length) bytes that were announced; give"
                + " its true length.",
            fate: .mayHaveBeenProcessed
        )
    }
}
