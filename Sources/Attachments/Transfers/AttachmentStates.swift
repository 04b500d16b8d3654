internal import OfflineSync
internal import RemoteContract
internal import Synchronization

/// Who looks at which file, and how far those are that travel.
final class AttachmentStates: Sendable {
    private struct Board {
        var observers: [AttachmentID: [Int: AsyncStream<AttachmentState>.Continuation]] = [:]
        var last: [AttachmentID: AttachmentState] = [:]
        var travelling: [AttachmentID: AttachmentState] = [:]
        /// The number of the last reading whose state was told.
        var told: [AttachmentID: Int] = [:]
        /// The last number of an observer or a reading.
        var next = 0
        var hasEnded = false
    }

    private let board = Mutex(Board())
    private let deliveries = Deliveries()
    /// Reads the state of a file at rest.
    private let load: @Sendable (AttachmentID) async throws -> AttachmentState

    init(_ load: @escaping @Sendable (AttachmentID) async throws -> AttachmentState) { self.load = load }

    func observe(_ id: AttachmentID) -> AsyncStream<AttachmentState> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AttachmentState.self,
            bufferingPolicy: .bufferingNewest(64)
        )
        let number = board.withLock { board -> Int? in
            guard !board.hasEnded else { return nil }
            board.next += 1
            board.observers[id, default: [:]][board.next] = continuation
            // In line with what is told from here on.
            if let known = board.travelling[id] ?? board.last[id] { deliveries.add { continuation.yield(known) } }
            return board.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.leave(id, number) }
        deliveries.deliver()
        Task { await self.changed(id) }
        return stream
    }

    /// How far a file is on its way; nil when it has arrived, or has not.
    func travels(_ id: AttachmentID, _ state: AttachmentState?) {
        board.withLock { board in
            board.travelling[id] = state
            if let state { tell(state, id, &board) }
        }
        deliveries.deliver()
    }

    /// The state of a file at rest may have changed.
    func changed(_ id: AttachmentID) async {
        let reading = board.withLock { board -> Int? in
            guard board.observers[id] != nil, board.travelling[id] == nil else { return nil }
            board.next += 1
            return board.next
        }
        guard let reading else { return }
        do {
            let state = try await load(id)
            board.withLock { board in
                // What was begun before may be from before what was told.
                guard board.travelling[id] == nil, reading > board.told[id] ?? 0 else { return }
                board.told[id] = reading
                tell(state, id, &board)
            }
            deliveries.deliver()
        } catch {
            // The store is locked or closed: it is told when that ends, or the sequences end with it.
        }
    }

    /// All that somebody looks at, after a time in which nothing could be read.
    func allChanged() async {
        for id in board.withLock({ Array($0.observers.keys) }) { await changed(id) }
    }

    /// The state of a file that travels; nil for the others.
    func travelling(_ id: AttachmentID) -> AttachmentState? { board.withLock { $0.travelling[id] } }

    func end() {
        board.withLock { board in
            board.hasEnded = true
            for observer in board.observers.values.flatMap(\.values) { deliveries.add { observer.finish() } }
            board.observers = [:]
        }
        deliveries.deliver()
    }

    private func leave(_ id: AttachmentID, _ number: Int) {
        board.withLock { board in
            board.observers[id]?[number] = nil
            guard board.observers[id]?.isEmpty ?? true else { return }
            board.observers[id] = nil
            (board.last[id], board.told[id]) = (nil, nil)
        }
    }

    private func tell(_ state: AttachmentState, _ id: AttachmentID, _ board: inout Board) {
        guard let observers = board.observers[id], board.last[id] != state else { return }
        board.last[id] = state
        for observer in observers.values { deliveries.add { observer.yield(state) } }
    }
}
