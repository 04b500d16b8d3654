internal import Observation
internal import OfflineSync
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// How what a session is at reaches the outside: as values, as sequences, and through Observation.
extension SyncSession {
    /// What a session is at.
    struct Status: Sendable, Hashable {
        var state = State.inactive
        var connection = ConnectionState.disconnected
        var suspended: SyncDirection = []
        var recoveries = 0
    }

    /// What is told to the outside, and to whom.
    struct Published: Sendable {
        var status = Status()
        var error: RecordedError?
        /// Which step of the machine this is of: steps may come here in another order.
        var version = 0
        var states: [Int: AsyncStream<State>.Continuation] = [:]
        var connections: [Int: AsyncStream<ConnectionState>.Continuation] = [:]
        var suspensions: [Int: AsyncStream<SyncDirection>.Continuation] = [:]
        var recoveries: [Int: AsyncStream<Int>.Continuation] = [:]
        var nextSubscriber = 0
    }

    /// An error, told from another one by its number.
    struct RecordedError: Sendable {
        var error: any Error
        var number: Int
    }

    func publish(_ status: Status, _ error: RecordedError?, _ version: Int) {
        let (former, hasOtherError) = published.withLock { published in
            guard published.version < version else { return (status, false) }
            return (published.status, published.error?.number != error?.number)
        }
        // Observers are told outside of the lock: they may read everything.
        if former.state != status.state { registrar.willSet(self, keyPath: \.state) }
        if former.connection != status.connection { registrar.willSet(self, keyPath: \.connectionState) }
        if former.suspended != status.suspended { registrar.willSet(self, keyPath: \.suspended) }
        if hasOtherError { registrar.willSet(self, keyPath: \.error) }
        let isClosed = status.state == .closed
        published.withLock { published in
            guard published.version < version else { return }
            let before = published.status
            published.version = version
            published.status = status
            published.error = error
            if before.state != status.state {
                for subscriber in published.states.values { deliveries.add { subscriber.yield(status.state) } }
            }
            if before.connection != status.connection {
                for subscriber in published.connections.values {
                    deliveries.add { subscriber.yield(status.connection) }
                }
            }
            if before.suspended != status.suspended {
                for subscriber in published.suspensions.values { deliveries.add { subscriber.yield(status.suspended) } }
            }
            if before.recoveries != status.recoveries {
                for subscriber in published.recoveries.values {
                    deliveries.add { subscriber.yield(status.recoveries) }
                }
            }
            guard isClosed else { return }
            for subscriber in published.recoveries.values { deliveries.add { subscriber.finish() } }
            for subscriber in published.states.values { deliveries.add { subscriber.finish() } }
            for subscriber in published.connections.values { deliveries.add { subscriber.finish() } }
            for subscriber in published.suspensions.values { deliveries.add { subscriber.finish() } }
        }
        deliveries.deliver()
        if former.state != status.state { registrar.didSet(self, keyPath: \.state) }
        if former.connection != status.connection { registrar.didSet(self, keyPath: \.connectionState) }
        if former.suspended != status.suspended { registrar.didSet(self, keyPath: \.suspended) }
        if hasOtherError { registrar.didSet(self, keyPath: \.error) }
    }

    /// A sequence of one part of the status.
    func subscribe<Value: Sendable>(
        _ subscribers: any WritableKeyPath<Published, [Int: AsyncStream<Value>.Continuation]> & Sendable,
        _ value: (Status) -> Value
    ) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(64))
        let (number, isClosed) = published.withLock { published in
            published.nextSubscriber += 1
            continuation.yield(value(published.status))
            let isClosed = published.status.state == .closed
            if !isClosed { published[keyPath: subscribers][published.nextSubscriber] = continuation }
            return (published.nextSubscriber, isClosed)
        }
        if isClosed { continuation.finish() }
        continuation.onTermination = { [weak self] _ in
            _ = self?.published.withLock { $0[keyPath: subscribers].removeValue(forKey: number) }
        }
        return stream
    }
}

extension SyncSession.Status {
    init(_ machine: SessionMachine, nextAttempt: Date?) {
        suspended = machine.suspended
        recoveries = machine.recoveries
        switch machine.phase {
        case .inactive: state = .inactive
        case .failed: state = .failed
        case .closed: state = .closed
        case .loading, .running:
            if machine.open.isEmpty {
                state = .suspended
            } else if machine.needsCredentials {
                state = .waitingForCredentials
            } else {
                state = nextAttempt.map { .backingOff(until: $0) } ?? .active
            }
        }
        guard machine.isStarted, !machine.open.isEmpty else { return }
        let isAnswered = machine.isConnected && !machine.isSilent
        connection = isAnswered ? .connected : machine.work != nil ? .connecting : .disconnected
    }
}
