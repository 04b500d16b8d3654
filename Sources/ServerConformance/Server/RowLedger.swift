internal import Synchronization

/// The rows that a run has made or may have made. Every id is noted before it is sent.
final class RowLedger: Sendable {
    /// What all ids of the run begin with.
    let prefix: String

    private struct State {
        var ids: Set<String> = []
        var nextNumber = 1
        /// Rows that are gone for this run and may be kept by the server.
        var deleted = 0
    }

    private let state = Mutex(State())

    init() {
        // Not from the seed: a run that is repeated must not meet the tombstones of the first.
        prefix = "conform-" + String(UInt64.random(in: 1 << 60 ... .max), radix: 36)
    }

    /// An id that no row has had.
    func newID(_ end: String = "") -> String {
        state.withLock { state in
            let id = "\(prefix)-\(Self.scattered(state.nextNumber))\(end)"
            state.nextNumber += 1
            state.ids.insert(id)
            return id
        }
    }

    /// Six digits, others for every number below a million, and not upward: rows in the order of their ids must not be
    /// those in the order in which they were made.
    private static func scattered(_ number: Int) -> String {
        let digits = "\(number * 618_033 % 1_000_000)"
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// A text that only rows of this run have, made to find out about columns.
    var sampleText: String { "sample of \(prefix)" }

    /// How many rows were deleted, those included that the server keeps as deleted ones.
    var deletedCount: Int { state.withLock { $0.deleted } }

    /// Notes a row whose id the server chose.
    func note(_ id: String) { state.withLock { state in _ = state.ids.insert(id) } }

    /// The rows that are still to be deleted.
    var ids: Set<String> { state.withLock { $0.ids } }

    /// Deletes rows; those that cannot be deleted stay noted. Goes on when the calling task is cancelled, but not when the
    /// server does not answer any more.
    func delete(_ ids: some Collection<String> & Sendable, with client: ServerClient) async {
        await withTaskGroup(of: Bool.self) { group in
            for (index, id) in ids.enumerated() {
                if index >= 8, await group.next() == false { break }
                group.addTask { await self.delete(id, with: client) }
            }
        }
    }

    /// Deletes a row; says whether the server answered.
    private func delete(_ id: String, with client: ServerClient) async -> Bool {
        do {
            let request = ServerRequest(method: "DELETE", suffix: ServerRequest.path(of: id))
            let response = try await client.send(request, evenWhenStopped: true)
            // Deleted now, or before, or never made.
            guard response.isSuccess || [404, 409, 410, 412].contains(response.status) else { return true }
            state.withLock { state in
                if state.ids.remove(id) != nil, response.status != 404 { state.deleted += 1 }
            }
            return true
        } catch {
            // The row stays noted: it is tried again at the end, and named when that fails too.
            return false
        }
    }
}
