internal import SyncContract
internal import Synchronization

/// Which rows the server answered for while pages were under way: a page that was requested before an answer was recorded
/// may be older than it, and must not undo it.
///
/// In memory only: a page does not outlive the process that asked for it. Nothing is kept while nothing is under way.
final class AnswerLog: Sendable {
    private struct State {
        var time: Int64 = 0
        /// The requests under way, in the order they were started.
        var outstanding: [Int64] = []
        /// When the last answer for a row was recorded.
        var answers: [String: Int64] = [:]
    }

    private let state = Mutex(State())

    /// Who waits for the answers to changes.
    let outstanding = OutstandingChangesRegistry()

    /// A request for rows, under way until this object is gone.
    final class Request: Sendable {
        private let number: Int64
        private let log: AnswerLog

        fileprivate init(_ number: Int64, _ log: AnswerLog) {
            self.number = number
            self.log = log
        }

        deinit { log.requestEnded(number) }

        /// Whether an answer for any row was recorded after the request was started. In a transaction that writes it stays
        /// as it is: answers are recorded in one.
        var isOlderThanAnyAnswer: Bool { log.hasAnswer(since: number) }

        /// Whether an answer for a row was recorded after the request was started.
        func isOlderThanAnswer(for id: RecordID, in table: TableDefinition) -> Bool {
            log.hasAnswer(since: number, for: id, in: table)
        }
    }

    /// To be called before the request leaves.
    func requestStarted() -> Request {
        state.withLock { state in
            state.time += 1
            state.outstanding.append(state.time)
            return Request(state.time, self)
        }
    }

    /// To be called in the transaction that records an answer to a push for a row, whatever it says.
    func answerRecorded(for itemID: String, in table: TableDefinition) {
        state.withLock { state in
            guard !state.outstanding.isEmpty else { return }
            state.time += 1
            state.answers[Self.key(.string(itemID), table)] = state.time
        }
    }

    /// How many answers are remembered.
    var count: Int { state.withLock { $0.answers.count } }

    private func hasAnswer(since number: Int64) -> Bool {
        state.withLock { $0.answers.values.contains { $0 > number } }
    }

    private func hasAnswer(since number: Int64, for id: RecordID, in table: TableDefinition) -> Bool {
        state.withLock { state in
            guard !state.answers.isEmpty, let time = state.answers[Self.key(id, table)] else { return false }
            return time > number
        }
    }

    private func requestEnded(_ number: Int64) {
        state.withLock { state in
            state.outstanding.removeAll { $0 == number }
            guard let oldest = state.outstanding.first else {
                state.answers = [:]
                return
            }
            if oldest > number { state.answers = state.answers.filter { $0.value > oldest } }
        }
    }

    private static func key(_ id: RecordID, _ table: TableDefinition) -> String {
        switch id.folded(for: table.idComparison) {
        case .string(let text): "\(table.name) \(text)"
        case .int64(let number): "\(table.name) \(number)"
        }
    }
}
