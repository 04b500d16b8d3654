#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension SyncSession {
    /// What a session is at.
    public enum State: Sendable, Hashable {
        /// Not started.
        case inactive
        /// Working, or waiting for something to do.
        case active
        /// The server wants somebody to sign in, or somebody else. It is tried again as after any failure, and at once
        /// with ``SyncSession/reconnect()``. Where it is changes alone that it forbids, pulls are made meanwhile.
        case waitingForCredentials
        /// Suspended in both directions.
        case suspended
        /// The last attempt failed, or the store could not be read; the next one is made then, or earlier when the network
        /// changes, or when a store that was locked is unlocked. When it was the pulls that failed, while the service
        /// answered, changes are sent meanwhile; when it was changes on which it failed, pulls are made meanwhile.
        case backingOff(until: Date)
        /// It cannot go on; ``SyncSession/error`` says why. Another start tries again.
        case failed
        /// The session or its store was closed.
        case closed
    }

    /// What the last request and the system say about the connection. There is no socket that stays: a hint, no promise.
    public enum ConnectionState: Sendable, Hashable {
        /// The session is not active, the last request got no answer from the service, or the system says that there is
        /// no network.
        case disconnected
        /// A request is under way after one that got no answer, or the first one; or the service has not been heard of for
        /// five seconds of work, such as when the line is slow or dead: the request is waited for until its time limit.
        case connecting
        /// The service answered the last request, whatever it said.
        case connected
    }

    /// What ``SyncSession/reconnect()`` did.
    public enum Reconnection: Sendable, Hashable {
        /// An attempt was made and has ended; the states say how.
        case tried
        /// One was under way already, and has ended.
        case alreadyConnecting
        /// Everything is suspended.
        case suspended
        /// The service answered last time, and nothing waits.
        case nothingToDo
        /// The session cannot go on as it is: ``SyncSession/error`` says why.
        case failedForGood
        /// The session is not started, or closed.
        case notStarted
    }
}
