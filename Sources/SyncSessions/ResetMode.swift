public import OfflineSync

/// What is done when the server no longer has the history that this device goes on from: it says so
/// (`RemoteError.Code.historyLost`), the app says so (``SyncSession/serverWasReset()``), or the device was away for longer
/// than ``SessionOptions/maximumOfflineTime``.
///
/// But for ``manual``, everything that the session keeps is brought anew beside what is here, which the app goes on using and
/// changing meanwhile; nothing is sent until it is complete. Then, in one transaction, the fresh rows take the place of
/// those of before, and changes that wait are held against them. Whatever ends the process in between leaves what was, and
/// the next start goes on where it stopped. What is done because of the time alone is given up when one of the pulls cannot end:
/// then everything stays as it is. Rows of a kept table that none of the pulls brings are removed, unless a change
/// waits for them, or they were kept where the server had none and nothing is discarded; tables that are not kept stay as they are, and are pulled from the beginning next time.
public enum ResetMode: Sendable {
    /// Called before anything is brought. It may read and change what is here; what it pushes or pulls is refused
    /// (``/OfflineSync/SyncError/Code/historyLost``). A process that ends before the fresh rows have begun to come calls it again.
    public typealias BeforeReset = @Sendable (SyncContext) async throws -> Void

    /// Called when the fresh rows are in place, with what became of the changes. A process that ends before it has returned
    /// calls it again.
    public typealias AfterReset = @Sendable (SyncContext, ResetReport) async throws -> Void

    /// The session fails with ``/OfflineSync/SyncError/Code/historyLost`` and leaves everything as it is. Another start goes
    /// on, with another mode, or after the app has purged what it wants to have anew.
    case manual

    /// Changes that wait are given up, and kept in ``/OfflineSync/SyncContext/discardedChanges()``, under the key of the store.
    case discardUnsyncedChanges(before: BeforeReset? = nil, after: AfterReset? = nil)

    /// Changes that wait are based on the fresh rows and sent next. What cannot be is stored as a conflict: a change of a row
    /// that is another one now, or gone. What the server has already is settled.
    ///
    /// A hook that throws ends the attempt as a failure does; it is called again with the next.
    case recoverUnsyncedChanges(before: BeforeReset? = nil, after: AfterReset? = nil)
}

extension ResetMode {
    /// A hook that is told nothing but the context.
    public typealias Hook = BeforeReset

    /// As ``recoverUnsyncedChanges(before:after:)``, with a hook that does not ask what became of the changes.
    @_disfavoredOverload
    public static func recoverUnsyncedChanges(before: Hook? = nil, after: @escaping Hook) -> ResetMode {
        .recoverUnsyncedChanges(
            before: before,
            after: { (context: SyncContext, _: ResetReport) in try await after(context) }
        )
    }

    /// As ``discardUnsyncedChanges(before:after:)``, with a hook that does not ask what became of the changes.
    @_disfavoredOverload
    public static func discardUnsyncedChanges(before: Hook? = nil, after: @escaping Hook) -> ResetMode {
        .discardUnsyncedChanges(
            before: before,
            after: { (context: SyncContext, _: ResetReport) in try await after(context) }
        )
    }
}

extension ResetMode {
    var isManual: Bool { if case .manual = self { true } else { false } }

    var discardsChanges: Bool { if case .discardUnsyncedChanges = self { true } else { false } }

    var before: BeforeReset? {
        switch self {
        case .manual: nil
        case .discardUnsyncedChanges(let before, _), .recoverUnsyncedChanges(let before, _): before
        }
    }

    var after: AfterReset? {
        switch self {
        case .manual: nil
        case .discardUnsyncedChanges(_, let after), .recoverUnsyncedChanges(_, let after): after
        }
    }
}
