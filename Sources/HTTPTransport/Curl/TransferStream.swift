#if !canImport(Darwin)
internal import Synchronization

/// What stands between the driving thread, which never waits, and the tasks that give a request's body and take an answer's.
///
/// Each side stops when the other one has nothing for it: the thread pauses the transfer, the tasks wait.
final class TransferStream: Sendable {
    /// How much there may be in between on either way, before whoever brings it has to wait.
    private static let room = 256 * 1_024

    typealias Waiting = CheckedContinuation<Void, Never>

    fileprivate struct State {
        var content: ArraySlice<UInt8> = []
        /// Whether the thread has asked for content, which it does when there is a connection.
        var isContentWanted = false
        var isSendPaused = false
        var waitingForRoom: Waiting?

        var receive: (@Sendable ([UInt8]) async throws -> Void)?
        var received: [UInt8] = []
        var isReceivePaused = false
        var waitingForBytes: Waiting?

        var isOver = false
        var failure: (any Error)?
    }

    let body: StreamedBody?
    private let choose: ReceptionChoice
    /// Tells the thread that what it paused can go on.
    private let resume: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ body: StreamedBody?, _ choose: @escaping ReceptionChoice, resume: @escaping @Sendable () -> Void) {
        self.body = body
        self.choose = choose
        self.resume = resume
    }

    /// What a closure threw.
    var failure: (any Error)? { state.withLock(\.failure) }

    // MARK: For the thread

    /// Takes bytes of the request's body; nil when there are none yet, and then ``resume`` is called as soon as there are.
    @unsafe
    func take(into room: UnsafeMutableRawBufferPointer) -> Int? {
        let (count, waiting): (Int?, Waiting?) = state.withLock { state in
            let isFirst = !state.isContentWanted
            state.isContentWanted = true
            let count = min(room.count, state.content.count)
            unsafe state.content.prefix(count)
                .withUnsafeBytes { unsafe room.copyMemory(from: UnsafeRawBufferPointer($0)) }
            state.content = state.content.dropFirst(count)
            state.isSendPaused = count == 0
            let wakes = isFirst || state.content.count < Self.room
            return (count == 0 ? nil : count, wakes ? state.takeWaitingForRoom() : nil)
        }
        waiting?.resume()
        return count
    }

    /// Decides what becomes of the answer's body.
    func reception(of head: HTTPResponse) throws -> BodyReception {
        let reception = try choose(head)
        if case .streamed(_, let receive) = reception { state.withLock { $0.receive = receive } }
        return reception
    }

    /// Puts bytes of the answer; false when there is no room, and then ``resume`` is called as soon as there is.
    @unsafe
    func put(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (isTaken, waiting): (Bool, Waiting?) = state.withLock { state in
            guard state.received.count < Self.room else {
                state.isReceivePaused = true
                return (false, nil)
            }
            unsafe state.received.append(contentsOf: bytes)
            return (true, state.takeWaitingForBytes())
        }
        waiting?.resume()
        return isTaken
    }

    /// Whether there is something to send, and room for what comes.
    var readiness: (toSend: Bool, toReceive: Bool) {
        state.withLock { (!$0.content.isEmpty, $0.received.count < Self.room) }
    }

    /// Nothing more will be taken or put.
    func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            return [state.takeWaitingForRoom(), state.takeWaitingForBytes()]
        }
        for continuation in waiting { continuation?.resume() }
    }

    // MARK: For the tasks

    /// Brings the request's body, until its end or that of the exchange.
    ///
    /// - Parameter fail: Ends the exchange.
    func bringContent(orElse fail: () -> Void) async {
        guard let body, body.length > 0, await waitForRoom() else { return }
        do {
            try await body.read { piece in
                give(piece)
                return await waitForRoom()
            }
        } catch {
            // What ends because the exchange has ended says nothing of it.
            let counts = state.withLock { state in
                if !state.isOver, state.failure == nil { state.failure = error }
                return !state.isOver
            }
            if counts { fail() }
        }
    }

    /// Hands the answer's body on, until its end.
    ///
    /// - Parameter fail: Ends the exchange.
    func handOn(orElse fail: () -> Void) async {
        while let (bytes, receive) = await nextBytes() {
            do {
                try Task.checkCancellation()
                try await receive(bytes)
            } catch {
                state.withLock { if $0.failure == nil { $0.failure = error } }
                return fail()
            }
        }
    }

    private func give(_ piece: [UInt8]) {
        let isPaused = state.withLock { state in
            if state.content.isEmpty { state.content = piece[...] } else { state.content += piece }
            defer { state.isSendPaused = false }
            return state.isSendPaused
        }
        if isPaused { resume() }
    }

    /// Waits until the thread wants more; false when it never will.
    private func waitForRoom() async -> Bool {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                let isDue = state.isOver || (state.isContentWanted && state.content.count < Self.room)
                if !isDue { state.waitingForRoom = continuation }
                return isDue
            }
            if isDue { continuation.resume() }
        }
        return state.withLock { !$0.isOver }
    }

    /// What has come since the last call, and to whom it goes; nil at the end.
    private func nextBytes() async -> ([UInt8], @Sendable ([UInt8]) async throws -> Void)? {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                let isDue = state.isOver || !state.received.isEmpty
                if !isDue { state.waitingForBytes = continuation }
                return isDue
            }
            if isDue { continuation.resume() }
        }
        let (bytes, receive, isPaused) = state.withLock { state in
            defer {
                state.received = []
                state.isReceivePaused = false
            }
            return (state.received, state.receive, state.isReceivePaused)
        }
        if isPaused { resume() }
        guard !bytes.isEmpty, let receive else { return nil }
        return (bytes, receive)
    }
}

extension TransferStream.State {
    fileprivate mutating func takeWaitingForRoom() -> TransferStream.Waiting? {
        defer { waitingForRoom = nil }
        return waitingForRoom
    }

    fileprivate mutating func takeWaitingForBytes() -> TransferStream.Waiting? {
        defer { waitingForBytes = nil }
        return waitingForBytes
    }
}
#endif
