internal import SyncContract
internal import SyncMachines
internal import Synchronization

/// Records the answers of a push, several in one transaction: until it is recorded, an answer is as one that takes long.
///
/// An answer from which nothing follows waits for others: for 384, for 200 ms, for one from which something follows, or
/// until what is sent next is chosen, which is done in the same transaction. What was chosen before does not wait for it.
/// Cancelling the push does not reach this: what the server did is recorded.
///
/// It is no actor: a task that waits for an actor may go on on the thread of the one before it, whatever thread it prefers,
/// and the store would be written on the thread of the answers.
final class AnswerRecording: Sendable {
    // As many as come from the middle of one ``PushWindow`` to the end of the next, and as long as one takes at most: mostly
    // they wait for the next choice.
    private static let most = 384
    private static let longestWait = Duration.milliseconds(200)

    private struct Entry: Sendable {
        var recorder: AnswerRecorder
        var answer: PushAnswer
        /// Who waits for what follows.
        var continuation: CheckedContinuation<AnswerRecorder.Result, any Error>?
    }

    private struct State {
        var waiting: [Entry] = []
        /// Whether what waits is to be recorded without waiting for more.
        var isUrgent = false
        /// Whether somebody records: nobody else does then.
        var isRecording = false
        var timer: Task<Void, Never>?
        var flushing: [CheckedContinuation<Void, Never>] = []
        var takenCount = 0

        mutating func takeWaiting() -> [Entry] {
            defer { waiting = [] }
            return waiting
        }

        mutating func stopTimer() {
            timer?.cancel()
            timer = nil
        }
    }

    private let store: any SyncContextDataSource
    private let schema: StoreSchema
    private let answers: AnswerLog
    private let marks: UploadMarks
    private let decisions: PushDecisions
    private let progress: PushProgress
    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    init(
        store: any SyncContextDataSource,
        answers: AnswerLog,
        marks: UploadMarks,
        decisions: PushDecisions,
        progress: PushProgress,
        clock: any Clock<Duration>
    ) {
        self.store = store
        schema = store.schema
        self.answers = answers
        self.marks = marks
        self.decisions = decisions
        self.progress = progress
        self.clock = clock
    }

    /// How many operations the server took.
    var takenCount: Int { state.withLock { $0.takenCount } }

    /// Records an answer from which nothing follows, some time. A failure of the store ends the push.
    func add(_ answer: PushAnswer, _ recorder: AnswerRecorder) {
        state.withLock { state in
            state.waiting.append(Entry(recorder: recorder, answer: answer))
            // Only when another one comes: those that end a window are recorded where the next one is chosen.
            if state.waiting.count > Self.most { begin(&state) } else { startTimer(&state) }
        }
    }

    /// Records an answer now, with all that wait.
    ///
    /// - Returns: What follows from it.
    func record(_ answer: PushAnswer, _ recorder: AnswerRecorder) async throws -> AnswerRecorder.Result {
        try await withCheckedThrowingContinuation { continuation in
            state.withLock { state in
                state.waiting.append(Entry(recorder: recorder, answer: answer, continuation: continuation))
                begin(&state)
            }
        }
    }

    /// Records all that wait.
    func flush() async {
        guard state.withLock({ $0.isRecording || !$0.waiting.isEmpty }) else { return }
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.flushing.append(continuation)
                begin(&state)
            }
        }
    }

    /// Records all that wait, and runs a body in the same transaction behind that. The body may run again, in a transaction
    /// of its own, when the first one fails.
    ///
    /// - Throws: What the body throws, or the store.
    func flush<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        let taken = state.withLock { state -> [Entry]? in
            guard !state.isRecording, !state.waiting.isEmpty else { return nil }
            state.isRecording = true
            state.stopTimer()
            return state.takeWaiting()
        }
        guard let entries = taken else {
            await flush()
            return try await store.write(body)
        }
        do {
            let (results, value) = try await uncancelled { [self] in
                try await store.write { transaction in
                    (try self.record(entries, &transaction), try body(&transaction))
                }
            }
            for (entry, result) in zip(entries, results) { finish(entry, result) }
            goOn()
            return value
        } catch {
            // It is the fault of one of them, perhaps.
            state.withLock { $0.waiting = entries + $0.waiting }
            goOn()
            await flush()
            return try await store.write(body)
        }
    }

    /// Goes on with what came while something was recorded.
    private func goOn() {
        state.withLock { state in
            if state.isUrgent { start() } else { end(&state) }
        }
    }

    private func begin(_ state: inout State) {
        state.isUrgent = true
        state.stopTimer()
        guard !state.isRecording else { return }
        state.isRecording = true
        start()
    }

    private func start() { Task(executorPreference: UncancelledWork.executor) { await self.recordAll() } }

    private func startTimer(_ state: inout State) {
        guard state.timer == nil, !state.isRecording else { return }
        state.timer = Task(executorPreference: UncancelledWork.executor) {
            do {
                try await self.clock.sleep(for: Self.longestWait)
                self.state.withLock { self.begin(&$0) }
            } catch {
                // There were enough before.
            }
        }
    }

    private func recordAll() async {
        while let entries = nextEntries() { await record(entries) }
    }

    /// What is to be recorded now; nil when nothing is, and whoever records has ended.
    private func nextEntries() -> [Entry]? {
        state.withLock { state in
            guard state.isUrgent, !state.waiting.isEmpty else {
                end(&state)
                return nil
            }
            state.isUrgent = false
            return state.takeWaiting()
        }
    }

    private func end(_ state: inout State) {
        (state.isRecording, state.isUrgent) = (false, false)
        for continuation in state.flushing { continuation.resume() }
        state.flushing = []
        if !state.waiting.isEmpty { startTimer(&state) }
    }

    private func record(_ entries: [Entry]) async {
        do {
            let results = try await store.write { transaction in try self.record(entries, &transaction) }
            for (entry, result) in zip(entries, results) { finish(entry, result) }
        } catch  where entries.count > 1 {
            // It is the fault of one of them, perhaps.
            for entry in entries { await record([entry]) }
        } catch {
            for entry in entries { entry.continuation?.resume(throwing: error) ?? progress.end(with: error) }
        }
    }

    private func record(
        _ entries: [Entry],
        _ transaction: inout StoreTransaction
    ) throws -> [AnswerRecorder.Result] {
        var lookups = SharedLookups()
        return try entries.map { entry in
            let result = try entry.recorder.record(entry.answer, sharing: &lookups, &transaction, schema)
            if !result.hasEnded { try marks.remove(from: entry.recorder.number, &transaction) }
            answers.answerRecorded(for: entry.recorder.itemID, in: entry.recorder.table)
            return result
        }
    }

    private func finish(_ entry: Entry, _ result: AnswerRecorder.Result) {
        let operation = entry.recorder.operation
        marks.answered(operation.id)
        if result.isAnswer { answers.outstanding.answered(operation.id, through: operation.editCounter) }
        if result.isTaken {
            state.withLock { $0.takenCount += 1 }
            decisions.context?.events.send(.operationTaken(operation))
        }
        entry.continuation?.resume(returning: result)
    }
}

extension PushAnswer {
    /// Whether nothing follows from the answer to a request but that it is recorded.
    func isLast(to request: ItemRequest<Record>?) -> Bool {
        guard case .taken = answer, candidates == nil else { return false }
        return switch request {
        case .insert, .update, .delete, .tombstone: true
        case .fillTombstone, .lookUp, nil: false
        }
    }
}
