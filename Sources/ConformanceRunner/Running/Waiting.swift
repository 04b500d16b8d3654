internal import Foundation

extension Trial {
    /// Waits for something that should have happened already; nil when it has not after ``RunSettings/patience``.
    public func patiently<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value? {
        await withDeadline(seconds: settings.patience, countsWork: false, body)
    }
}

/// Ends this process as a power failure would: nothing runs any more, no destructor and no clean-up.
public func killThisProcess() -> Never {
    #if os(Linux) || os(macOS)
    kill(getpid(), SIGKILL)
    #endif
    // Where a process cannot kill itself, a trap is the nearest thing; nobody calls this by accident.
    fatalError("this process was asked to end at once")
}
