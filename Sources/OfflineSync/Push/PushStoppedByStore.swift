internal import SyncContract

/// A push that the store has ended, with what was done before: the caller gets the store's own error, which has no place for
/// that.
struct PushStoppedByStore: Error {
    let error: StoreError
    let report: PushReport

    /// Nil for an error of somebody else.
    init?(_ error: any Error, _ report: PushReport) {
        guard let error = error as? StoreError else { return nil }
        (self.error, self.report) = (error, report)
    }
}
