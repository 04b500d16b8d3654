internal import Synchronization
package import SyncContract

/// Rows that came from the server, for one in this package who looks at them again. Everything that is here counts as arrived at
/// first: what came while nobody followed is not known.
package final class ArrivedRows: Sendable {
    /// What has arrived and was not taken yet.
    package struct Batch: Sendable {
        /// Whether any row of any table may have.
        package fileprivate(set) var isEverything = false
        /// The rows of tables.
        package fileprivate(set) var rows: [(table: String, ids: [RecordID])] = []
    }

    /// Comes once or more after something has arrived.
    package let signals: AsyncStream<Void>

    private let signal: AsyncStream<Void>.Continuation
    private let batch = Mutex(Batch(isEverything: true))

    init() { (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    deinit { signal.finish() }

    /// Takes what has arrived.
    package func take() -> Batch {
        batch.withLock { batch in
            defer { batch = Batch() }
            return batch
        }
    }

    /// Gives back what was taken and could not be looked at.
    package func giveBack(_ taken: Batch) {
        batch.withLock { batch in
            batch.isEverything = batch.isEverything || taken.isEverything
            batch.rows = taken.rows + batch.rows
        }
    }

    func add(_ ids: [RecordID], of table: String) {
        batch.withLock { if !$0.isEverything { $0.rows.append((table, ids)) } }
        signal.yield()
    }

    /// Counts everything as arrived.
    package func addEverything() {
        batch.withLock { $0 = Batch(isEverything: true) }
        signal.yield()
    }
}
