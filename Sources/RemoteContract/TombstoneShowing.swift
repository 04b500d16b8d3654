/// Whether a tombstone may be shown as it is: brought back with the content it was deleted with, for a moment, before another
/// request gives it its content.
///
/// Some servers bring a row back in no other way, and only the first answers tell which. What is interrupted in between leaves a
/// row that nobody has written, and the engine knows it for its own only when it has stored before that this may happen. So
/// it says with its requests whether it has; a remote that would have to do it unstored does nothing and says so, and is asked
/// again.
package enum TombstoneShowing {
    /// Whether the calling task may have it done: true where nobody says otherwise, as for who keeps no queue.
    @TaskLocal package static var isStored = true

    /// To be called right before a request that shows a tombstone as it is.
    ///
    /// - Parameter table: The name of the table.
    /// - Throws: The error that says that it was not sent, unless it may be.
    package static func check(table: String) throws(RemoteError) {
        guard !isStored else { return }
        var error = RemoteError(
            .invalidRequest,
            "A deleted row of table '\(table)' can only be brought back as it was and then changed, which was not prepared;"
                + " push again."
        )
        error.wouldShowTombstone = true
        throw error
    }
}
