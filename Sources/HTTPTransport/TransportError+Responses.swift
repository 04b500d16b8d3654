// Failures of an exchange, in the same words whatever carries it. Each names the server and what to do.
extension TransportError {
    static func timedOut(_ server: String, after timeout: Duration, fate: Fate, cause: (any Error)? = nil) -> Self {
        TransportError(
            .timedOut,
            "\(server) gave no complete answer within \(timeout); check the network, or allow more time",
            fate: fate,
            cause: cause
        )
    }

    static func stalled(_ server: String, for timeout: Duration, fate: Fate) -> Self {
        TransportError(
            .timedOut,
            "the exchange with \(server) stood still for \(timeout); check the network and try again",
            fate: fate
        )
    }

    static func tooLarge(_ server: String, body size: Int) -> Self {
        TransportError(
            .tooLarge,
            "the answer of \(server) has more than \(size) bytes; fetch smaller pages, or allow larger answers",
            fate: .mayHaveBeenProcessed
        )
    }

    static func tooLarge(_ server: String, head size: Int) -> Self {
        TransportError(
            .tooLarge,
            "the head of the answer of \(server) has more than \(size) bytes; check the address, or allow larger heads",
            fate: .mayHaveBeenProcessed
        )
    }

    static func invalidResponse(_ server: String, _ reason: String, cause: (any Error)? = nil) -> Self {
        TransportError(
            .invalidResponse,
            "the answer of \(server) is not a complete answer of HTTP: \(reason); check the address, and what stands in"
                + " between",
            fate: .mayHaveBeenProcessed,
            cause: cause
        )
    }

    /// The connection ended in the middle of an answer.
    static func cut(_ server: String, in part: String, fate: Fate, cause: (any Error)? = nil) -> Self {
        TransportError(
            .connectionLost,
            "\(server) closed the connection in the \(part) of its answer; try again",
            fate: fate,
            cause: cause
        )
    }

    static func closed(fate: Fate) -> Self {
        TransportError(.closed, "the transport was closed; make a new one", fate: fate)
    }
}
