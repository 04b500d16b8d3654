#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

public import Observation
public import OfflineSync
internal import Synchronization

/// Keeps a context in step by itself: after local changes, at intervals, when told of news, and after a
/// failure when the network returns.
///
/// One per context, `SyncContext.session`. It does nothing until it is started; from then on it keeps its
/// context, and lives until it or the store is closed. A request is sent only for a reason: changes wait, what was pulled
/// has become too old, or somebody has asked. One thing is done at a time, but that changes are sent between the pages of a long pull;
/// several sessions do not wait for each other.
///
/// A pull that the server refuses or fails on holds up neither pushes nor the other pulls: it is made again after a
/// while, as ``SessionOptions/backoff`` says, and ``error`` says why. So is one that breaks off while another one is
/// answered, or at least its table: up to two others are tried behind it, whether or not their time has come. When that is
/// so of all pulls they wait together, as after any failure, and changes are sent all the same; where nothing but the app can
/// mend it, the session fails.
///
/// ``state-swift.property``, ``connectionState-swift.property``, ``suspended`` and ``error`` can be read at any time, come
/// as sequences, and are tracked by Observation.
public final class SyncSession: Sendable, Observable {
    weak let context: SyncContext?
    let environment: SessionEnvironment
    let running = Mutex(Running())
    /// What is told to the outside.
    let published = Mutex(Published())
    /// What goes to those who follow state, connection and progress.
    let deliveries = Deliveries()
    let registrar = ObservationRegistrar()
    /// One sync at a time, those included that no start has asked for.
    let gate = SerialGate()

    package init(_ context: SyncContext, _ environment: SessionEnvironment = SessionEnvironment()) {
        self.context = context
        self.environment = environment
    }

    deinit {
        published.withLock { published in
            for subscriber in published.states.values { subscriber.continuation.finish() }
            for subscriber in published.connections.values { subscriber.continuation.finish() }
            for subscriber in published.suspensions.values { subscriber.continuation.finish() }
            for subscriber in published.recoveries.values { subscriber.continuation.finish() }
        }
        running.withLock { running in
            for watcher in running.watchers.values { watcher.continuation.finish() }
        }
    }

    // MARK: Starting and ending

    /// Starts to keep tables, or rows of them, in step; all tables of the schema when none is named, also by a list that has
    /// become empty: to keep none, `suspend(.download)`.
    ///
    /// What waits is sent at once; what was pulled longer ago than ``SessionOptions/pullInterval`` is pulled at once, the
    /// rest when its time comes. What was suspended stays so, also over a restart of the process. Another call changes what
    /// is kept, and how, and goes on after a failure. After ``close()`` it does nothing.
    ///
    /// - Parameters:
    ///   - sources: Tables and queries, ``SessionPull`` where settings are needed.
    ///   - options: When to sync.
    public func start(keeping sources: [any SyncSource] = [], options: SessionOptions = SessionOptions()) {
        begin(sources.map(SessionPull.init(of:)), options)
    }

    /// Ends for good: what is under way is cancelled, waits and sequences end. The store stays open.
    ///
    /// Within a delegate, a policy or a hook it does not wait until what is under way has ended.
    ///
    /// Closing the store does the same, without waiting for what is under way.
    public func close() async { await end() }

    // MARK: What it is at

    /// What the session is at.
    public var state: State {
        registrar.access(self, keyPath: \.state)
        return published.withLock { $0.status.state }
    }

    /// The connection, as far as it can be known.
    public var connectionState: ConnectionState {
        registrar.access(self, keyPath: \.connectionState)
        return published.withLock { $0.status.connection }
    }

    /// Which directions are suspended; what an earlier process has suspended is known after the start, and in a context with
    /// files from its opening on: they follow it, started or not.
    public var suspended: SyncDirection {
        registrar.access(self, keyPath: \.suspended)
        return published.withLock { $0.status.suspended }
    }

    /// What went wrong last; nil after success. What goes wrong in one pull alone stays until that succeeds.
    public var error: (any Error)? {
        registrar.access(self, keyPath: \.error)
        return published.withLock { $0.error?.error.ofApp }
    }

    /// The state now and whenever it changes. A loop that does not keep up misses older ones, never the last. It ends with
    /// the session, after ``State-swift.enum/closed``.
    public var states: AsyncStream<State> { subscribe(\.states, { $0.state }) }

    /// How often the service may be there again, as the system or the app has said, or as its answers show after a failure: now and
    /// whenever that changes.
    package var recoveries: AsyncStream<Int> { subscribe(\.recoveries) { $0.recoveries } }

    /// The same for the connection.
    public var connectionStates: AsyncStream<ConnectionState> { subscribe(\.connections, { $0.connection }) }

    /// The same for what is suspended.
    package var suspensions: AsyncStream<SyncDirection> { subscribe(\.suspensions, { $0.suspended }) }

    // MARK: Asking

    /// Stops one direction or both until ``resume(_:)``, also across restarts: what is under way in that direction is
    /// ended, and nothing further is sent.
    ///
    /// It takes effect at once and is stored in the background; a process killed right then may find it as before.
    public func suspend(_ direction: SyncDirection = .both) { setSuspended(direction, true) }

    /// Goes on, and syncs at once when there is something to do. It ends a wait after a failure, when everything was
    /// suspended.
    public func resume(_ direction: SyncDirection = .both) { setSuspended(direction, false) }

    /// Syncs now: sends what waits and asks for all that is kept. ``wait(for:timeout:)`` does so too, and waits.
    /// After a failure the time until the next attempt is waited for all the same; see ``reconnect()``. Within a push or
    /// pull of the app's own, such as in a delegate, it begins when that has ended.
    public func sync(_ direction: SyncDirection = .both) { send(.asked(direction)) }

    /// The server has news, of these tables or of any: after a push notification, or from a socket of the app's own.
    public func serverChanged(tables: [String] = []) { send(.serverChanged(tables: Set(tables))) }

    /// The server was set up anew, or has lost its history: everything is brought anew, as ``SessionOptions/resetMode`` says.
    ///
    /// It is done at once when the session is started and pulls are not suspended, otherwise when that is so, or by
    /// ``sync(within:)``. From now on, also after a restart of the process, until that is done `push()`, `pull()` and `sync()` of the
    /// context throw ``/OfflineSync/SyncError/Code/historyLost``; what is being sent by one of them ends first. With
    /// ``ResetMode/manual`` it is done when the session has failed. It is stored in the background; a process killed right then may
    /// find it as before.
    public func serverWasReset() { serverHasReset() }

    /// Tries again now and forgets how long was waited; says what it did when that has ended.
    ///
    /// Cancelling the task ends the waiting for it. Within a delegate, a policy or a hook it does not wait: the push or pull
    /// that this is called in ends first.
    @discardableResult
    public func reconnect() async -> Reconnection { await tryAgain() }

    /// When everything of a source that is kept was last here; nil when it never was, or its rows were
    /// purged since. It stays when the source is no longer kept.
    ///
    /// - Parameter source: As it was given to ``start(keeping:options:)``.
    /// - Returns: The time by this device's clock.
    /// - Throws: What reading the store throws.
    public func lastCompletePull(of source: any SyncSource) async throws -> Date? {
        let pull = SessionPull(of: source)
        return try await context?.lastCompletePull(of: pull.source, pull.name)
    }
}

extension SyncContext {
    /// Keeps this context in step by itself, once it is started.
    public var session: SyncSession { companion { SyncSession(self) } }
}
