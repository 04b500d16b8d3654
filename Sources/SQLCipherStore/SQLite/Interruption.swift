import CSQLCipher

/// Whether the statements of a connection go on.
///
/// SQLite asks while a statement runs, on the thread and in the task that runs it. `sqlite3_interrupt`, called from
/// another thread, is forgotten when it comes between two statements, and hits the next transaction when it comes late:
/// a task that asks about itself can miss nothing and hit nobody else. Between ``end()`` and ``begin(isBrief:)`` nothing
/// is interrupted, so that every transaction can be ended properly.
final class Interruption {
    /// After how many steps of SQLite's machine it asks: well below a millisecond.
    fileprivate static let stepsBetweenQuestions: Int32 = 1_000
    /// How often it may ask before a read is no longer brief. By then it may have gone through some thousand rows.
    private static let questionsOfBriefRead = 20

    /// How many bytes a value may have in a brief read of that many rows.
    ///
    /// A value is read within one step, however long it is, at 0.7 gigabytes per second when it must be decrypted: 50 MB
    /// took 0.28 seconds, one mebibyte 1.5 milliseconds, both on the calling task's thread.
    static func largestValue(ofRows rows: Int) -> Int { max(1 << 20 / max(rows, 1), 1 << 14) }

    private var isUnderWay = false
    private var remainingQuestions: Int?
    /// Why statements were interrupted since the last beginning.
    private(set) var reason: (any Error)?

    func begin(isBrief: Bool) {
        isUnderWay = true
        remainingQuestions = isBrief ? Self.questionsOfBriefRead : nil
        reason = nil
    }

    func end() { isUnderWay = false }

    fileprivate func mustStop() -> Bool {
        guard isUnderWay else { return false }
        if Task.isCancelled {
            reason = reason ?? CancellationError()
        } else if let remaining = remainingQuestions {
            remainingQuestions = remaining - 1
            if remaining == 0 { reason = reason ?? ReadTookLong() }
        }
        return reason != nil
    }
}

/// A read that was to be brief has taken so many steps, or found so large a value, that it belongs on another thread.
struct ReadTookLong: Error {}

extension Database {
    /// Lets every statement of this connection ask whether to go on.
    ///
    /// - Parameter interruption: Must live as long as the connection.
    func interruptStatements(through interruption: Interruption) {
        unsafe sqlite3_progress_handler(
            pointer,
            Interruption.stepsBetweenQuestions,
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue().mustStop() ? 1 : 0
            },
            Unmanaged.passUnretained(interruption).toOpaque()
        )
    }
}
