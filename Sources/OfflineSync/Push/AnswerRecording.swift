internal import SyncContract
internal import SyncMachines

/// Records the answers of a push, several in one transaction: until it is recorded, an answer is as one that takes long.
///
/// An answer from which nothing follows waits for others: for 192, for 200 ms, for one from which something follows, or
/// until what is sent next is chosen, which is done in the same transaction. What was chosen before does not wait for it.
/// Cancelling the push does not reach this: what the server did is recorded.
actor AnswerRecording {
    // As many as come from the middle of one ``PushWindow`` to the end of the next, and as long as one takes at most: mostly
    // they wait for the next choice.
    private static let most = 192
    private static let longestWait = Duration.milliseconds(200)

    private struct Entry: Sendable {
        var recorder: AnswerRecorder
        var answer: PushAnswer
        /// Who waits for what follows.
        var continuation: CheckedContinuation<AnswerRecorder.Result, any Error>?
    }

    private let store: any SyncContextDataSource
    private let schema: StoreSchema
    private let answers: AnswerLog
    private let marks: UploadMarks
    private let decisions: PushDecisions
    private let progress: PushProgress
    private let clock: any Clock<Duration>

    private var waiting: [Entry] = []
    /// Whether what waits is to be recorded without waiting for more.
    private var isUrgent = false
    private var isRecording = false
    private var timer: Task<Void, Never>?
    private var flushing: [CheckedContinuation<Void, Never>] = []

    /// How many operations the server took.
    private(set) var takenCount = 0

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

    /// Records an answer from which nothing follows, some time. A failure of the store ends the push.
    func add(_ answer: PushAnswer, _ recorder: AnswerRecorder) {
        waiting.append(Entry(recorder: recorder, answer: answer))
        // Only when another one comes: those that end a window are recorded where the next one is chosen.
        if waiting.count > Self.most { begin() } else { startTimer() }
    }

    /// Records an answer now, with all that wait.
    ///
    /// - Returns: What follows from it.
    func record(_ answer: PushAnswer, _ recorder: AnswerRecorder) async throws -> AnswerRecorder.Result {
        try await withCheckedThrowingContinuation { continuation in
            waiting.append(Entry(recorder: recorder, answer: answer, continuation: continuation))
            begin()
        }
    }

    /// Records all that wait.
    func flush() async {
        guard isRecording || !waiting.isEmpty else { return }
        await withCheckedContinuation { continuation in
            flushing.append(continuation)
            begin()
        }
    }

    /// Records all that wait, and runs a body in the same transaction behind that. The body may run again, in a transaction
    /// of its own, when the first one fails.
    ///
    /// - Throws: What the body throws, or the store.
    func flush<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        guard !isRecording, !waiting.isEmpty else {
            await flush()
            return try await store.write(body)
        }
        let entries = waiting
        waiting = []
        isRecording = true
        stopTimer()
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
            waiting = entries + waiting
            goOn()
            await flush()
            return try await store.write(body)
        }
    }

    /// Goes on with what came while something was recorded.
    private func goOn() {
        guard !isUrgent else { return start() }
        end()
    }

    private func stopTimer() {
        timer?.cancel()
        timer = nil
    }

    private func begin() {
        isUrgent = true
        stopTimer()
        guard !isRecording else { return }
        isRecording = true
        start()
    }

    private func start() { Task(executorPreference: UncancelledWork.executor) { await self.recordAll() } }

    private func startTimer() {
        guard timer == nil, !isRecording else { return }
        timer = Task(executorPreference: UncancelledWork.executor) { [clock] in
            do {
                try await clock.sleep(for: Self.longestWait)
                await self.begin()
            } catch {
                // There were enough before.
            }
        }
    }

    private func recordAll() async {
        while isUrgent, !waiting.isEmpty {
            let entries = waiting
            (waiting, isUrgent) = ([], false)
            await record(entries)
        }
        end()
    }

    private func end() {
        (isRecording, isUrgent) = (false, false)
        for continuation in flushing { continuation.resume() }
        flushing = []
        if !waiting.isEmpty { startTimer() }
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

    private nonisolated func record(
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
            takenCount += 1
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
