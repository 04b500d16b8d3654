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
        /// What the sequences were told last. They miss no step, and get each after what can be read.
        var told = Status()
        /// Which step that is of.
        var toldVersion = 0
        /// Steps whose predecessors have not come yet.
        var early: [Int: Status] = [:]
        var states: [Int: Subscriber<State>] = [:]
        var connections: [Int: Subscriber<ConnectionState>] = [:]
        var suspensions: [Int: Subscriber<SyncDirection>] = [:]
        var recoveries: [Int: Subscriber<Int>] = [:]
        var nextSubscriber = 0
    }

    /// Who follows one part of the status.
    struct Subscriber<Value: Sendable & Equatable>: Sendable {
        /// Which step it began with; it is told of those behind it.
        let first: Int
        let continuation: AsyncStream<Value>.Continuation
    }

    /// An error, told from another one by its number.
    struct RecordedError: Sendable {
        var error: any Error
        var number: Int
    }

    /// Tells what the session is at, if another thread has not done so yet.
    func publishCurrent() {
        let (status, error, version) = running.withLock { ($0.status(environment), $0.error, $0.version) }
        publish(status, error, version)
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
        // Another thread may have told of another step meanwhile: what is told in the end is what this one has replaced.
        let replaced = published.withLock { published -> (status: Status, error: Int?)? in
            // Another thread may have told of this very step.
            if published.toldVersion < version { published.early[version] = status }
            let before = (published.status, published.error?.number)
            let isNews = published.version < version
            if isNews {
                published.version = version
                published.status = status
                published.error = error
            }
            while let next = published.early.removeValue(forKey: published.toldVersion + 1) {
                published.toldVersion += 1
                tell(\.states, \.state, next, published)
                tell(\.connections, \.connection, next, published)
                tell(\.suspensions, \.suspended, next, published)
                tell(\.recoveries, \.recoveries, next, published)
                published.told = next
            }
            return isNews ? before : nil
        }
        deliveries.deliver()
        guard let replaced else { return }
        if replaced.status.state != status.state { changed(\.state) }
        if replaced.status.connection != status.connection { changed(\.connectionState) }
        if replaced.status.suspended != status.suspended { changed(\.suspended) }
        if replaced.error != error?.number { changed(\.error) }
    }

    /// Tells observers that a property is another one. Who has read it since it was told that it would be, and before it was,
    /// has read the one from before, and is told once more.
    private func changed(_ property: KeyPath<SyncSession, some Any>) {
        registrar.willSet(self, keyPath: property)
        registrar.didSet(self, keyPath: property)
    }

    private func tell<Value>(
        _ subscribers: KeyPath<Published, [Int: Subscriber<Value>]>,
        _ value: KeyPath<Status, Value>,
        _ status: Status,
        _ published: Published
    ) {
        let (before, now) = (published.told[keyPath: value], status[keyPath: value])
        for subscriber in published[keyPath: subscribers].values {
            if before != now, subscriber.first < published.toldVersion {
                deliveries.add { subscriber.continuation.yield(now) }
            }
            if status.state == .closed { deliveries.add { subscriber.continuation.finish() } }
        }
    }

    /// A sequence of one part of the status.
    func subscribe<Value>(
        _ subscribers: any WritableKeyPath<Published, [Int: Subscriber<Value>]> & Sendable,
        _ value: (Status) -> Value
    ) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(64))
        let (number, isClosed) = published.withLock { published in
            published.nextSubscriber += 1
            continuation.yield(value(published.status))
            let isClosed = published.status.state == .closed
            if !isClosed {
                published[keyPath: subscribers][published.nextSubscriber] =
                    Subscriber(first: published.version, continuation: continuation)
            }
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
