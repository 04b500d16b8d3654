/// What happens to a session.
enum SessionEvent: Sendable, Hashable {
    /// It is to keep something in step. What was suspended earlier is not known yet, unless it was started before.
    case started([SessionMachine.Pull], SessionMachine.Settings)
    /// What the store knows was read: what was suspended, whether changes wait, how long ago each pull was complete, and
    /// whether everything is to be brought anew.
    case loaded(suspended: SyncDirection, hasChanges: Bool, ages: [Duration?], needsReset: Bool)
    /// What the store knows could not be read. The number is random, 0 to 1.
    case notLoaded(SessionFailure, random: Double)
    /// Local changes wait that no push has seen.
    case changed
    /// The time for which it was to be woken has come.
    case woken
    /// The system says whether there is a network, or that it is another one.
    case network(isThere: Bool)
    /// What stood in the way on this device is gone.
    case obstacleGone
    /// The server has news of some tables, or of any.
    case serverChanged(tables: Set<String>)
    /// The server has lost its history, the app says.
    case serverReset
    /// Everything was brought anew, by this session or another one, or the end of that is told, after the app had said so often
    /// that the server has lost its history.
    case reset(asked: Int)
    /// How long ago pulls were complete that others have brought.
    case aged([Int: Duration])
    /// Bringing everything anew because of the age alone was given up: one of the pulls cannot end.
    case resetGivenUp
    /// Somebody wants these directions done now.
    case asked(SyncDirection)
    case suspended(SyncDirection)
    /// What an earlier process has suspended, read before anybody has started the session.
    case suspensionRead(SyncDirection)
    case resumed(SyncDirection)
    /// Somebody wants another attempt now.
    case reconnect
    /// The work under way would push between its pulls: it does so if that is due still.
    case pushing
    /// It has done so; whether it pushes apart from that.
    case pushingEnded(Bool)
    /// A push has ended without an error; there may be changes that it has not seen.
    case pushed(hasNewer: Bool)
    /// The server fails on what was pushed, or forbids it, while it answers: it is to be sent again. The number is random, 0
    /// to 1.
    case pushFailed(SessionFailure, random: Double)
    /// A pull of the work under way is complete.
    case pulled(Int)
    /// Of one that was not complete for too long there are all news, and not all of which the server has forgotten that it was
    /// deleted.
    case pulledNews(Int)
    /// A pull of the work under way has failed, while the service answers. The number is random, 0 to 1.
    case pullFailed(Int, SessionFailure, random: Double)
    /// A pull that the work under way has made for its answer alone has not failed.
    case probed(Int)
    /// The service has answered a request.
    case answered
    /// The work under way has ended. The number is random, 0 to 1.
    case ended(SessionFailure?, random: Double)
    /// Somebody waits; whether changes have to be answered for that.
    case wait(Int, SyncDirection, needsUpload: Bool)
    /// What somebody waits to be sent was answered.
    case uploaded(Int)
    /// Somebody waits no more.
    case waitCancelled(Int)
    /// It cannot go on.
    case failed
    case closed
}

/// What a session does about it.
enum SessionEffect: Sendable, Hashable {
    /// Read what the store knows.
    case load
    /// Start this work.
    case begin(SessionMachine.Work)
    /// End the work under way; it will say when it has.
    case cancelWork
    /// Somebody need not wait any longer; false: the session does not go on in what was waited for.
    case endWait(Int, isDone: Bool)
}

/// Why work has ended early.
enum SessionFailure: Sendable, Hashable {
    /// It may go better later. Failures of the same name are the same. `wait` is how long the server asks to wait, and
    /// `isAnswer` says whether it was the service that answered.
    case temporary(name: String, wait: Duration?, isAnswer: Bool)
    /// Somebody has to sign in, or somebody else.
    case credentials(name: String, isAnswer: Bool)
    /// The server has lost its history: everything is to be brought anew.
    case historyLost
    /// Nothing but the app can mend it.
    case permanent
    /// It was cancelled, because the session has no use for it any more.
    case cancelled
    /// The store was closed under it.
    case storeClosed
}
