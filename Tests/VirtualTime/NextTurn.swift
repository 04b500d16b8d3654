/// Lets others run, for a test that looks again and again for what they do.
///
/// - Throws: `CancellationError` when the test's time is over, so that waiting for what never comes ends the test alone.
package func nextTurn() async throws {
    try Task.checkCancellation()
    await Task.yield()
}
