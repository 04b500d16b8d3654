internal import SyncContract

/// A push that the store has ended, with what was done before: the caller gets the store's own error, which has no place for
/// that.
struct PushStoppedByStore: Error {
    let error: StoreError
    let report: PushReport

    /// Nil for an error that is not about the store itself: the app's own code may have thrown it.
    init?(_ error: any Error, _ report: PushReport) {
        let codes: [StoreError.Code] = [.full, .readOnly, .inputOutput, .damaged, .internal]
        guard let error = error as? StoreError, codes.contains(error.code) else { return nil }
        (self.error, self.report) = (error, report)
    }
}
