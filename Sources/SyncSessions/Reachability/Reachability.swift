/// What the system says of the network: a hint for when to try, never a reason not to.
package protocol Reachability: Sendable {
    /// Whether there is a network: now, and whenever that or the network changes. It ends with the task that reads it,
    /// or at once where nothing can be known.
    func changes() -> AsyncStream<Bool>
}

/// Knows nothing.
package struct UnknownReachability: Reachability {
    package init() {}

    package func changes() -> AsyncStream<Bool> { AsyncStream { $0.finish() } }
}
