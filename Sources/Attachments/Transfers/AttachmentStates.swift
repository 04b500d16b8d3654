internal import OfflineSync
internal import RemoteContract
internal import Synchronization

/// Who looks at which file, and how far those are that travel.
final class AttachmentStates: Sendable {
    private struct Board {
        var observers: [AttachmentID: [Int: AsyncStream<AttachmentState>.Continuation]] = [:]
        var last: [AttachmentID: AttachmentState] = [:]
        var travelling: [AttachmentID: AttachmentState] = [:]
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
        let (number, hasEnded, known) = board.withLock { board in
            board.next += 1
            if !board.hasEnded { board.observers[id, default: [:]][board.next] = continuation }
            return (board.next, board.hasEnded, board.travelling[id] ?? board.last[id])
        }
        guard !hasEnded else {
            continuation.finish()
            return stream
        }
        if let known { continuation.yield(known) }
        continuation.onTermination = { [weak self] _ in self?.leave(id, number) }
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
        let isLookedAt = board.withLock { $0.observers[id] != nil && $0.travelling[id] == nil }
        guard isLookedAt else { return }
        do {
            let state = try await load(id)
            board.withLock { board in
                if board.travelling[id] == nil { tell(state, id, &board) }
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
            board.last[id] = nil
        }
    }

    private func tell(_ state: AttachmentState, _ id: AttachmentID, _ board: inout Board) {
        guard let observers = board.observers[id], board.last[id] != state else { return }
        board.last[id] = state
        for observer in observers.values { deliveries.add { observer.yield(state) } }
    }
}
