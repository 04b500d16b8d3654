/// Looks again and again until something is so, for what nobody reports, such as a file that another process makes.
///
/// It pauses for a millisecond between two looks: a loop that only yields would take a processor from the very work that it
/// waits for.
package func looking(until isSo: () async throws -> Bool) async throws {
    while try await !isSo() { try await Task.sleep(for: .milliseconds(1)) }
}
