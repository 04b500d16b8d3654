#if !canImport(Darwin)
internal import CCurl
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What stands between the tasks that want something and the thread that does it: orders, under a lock.
final class TransferDriver: Sendable {
    typealias Continuation = CheckedContinuation<HTTPResponse, any Error>

    /// What the thread is asked to do.
    enum Order: Sendable {
        case start(Int, TransferRequest, Continuation)
        case cancel(Int)
        /// What was paused for want of content, or of room, can go on.
        case resume(Int)
        /// A piece of a task is to be run.
        case run(TransferJob)
    }

    private struct State {
        var orders: [Order] = []
        var hasThread = false
        var isClosed = false
        /// Set while the thread waits or is about to; whoever brings an order takes it out and wakes the thread.
        var waker: Waker?

        /// Takes on what wakes the thread, which is done after the lock is open: who is woken comes for it at once.
        mutating func takeWaker() -> Waker? {
            defer { waker = nil }
            return waker
        }
    }

    private let state = Mutex(State())
    private let numbers = Atomic<Int>(0)
    private let options: TransportOptions

    init(_ options: TransportOptions) { self.options = options }

    /// A number for a transfer, which no other one of this driver has.
    func nextNumber() -> Int { numbers.add(1, ordering: .relaxed).newValue }

    // MARK: For tasks

    /// Starts a transfer; the continuation is resumed exactly once, from here or from the thread.
    func start(_ number: Int, _ transfer: TransferRequest, _ continuation: Continuation) {
        // Asked inside the lock: a cancellation that comes later finds the order, one that came before is seen here.
        let (refusal, waker): ((any Error)?, Waker?) = state.withLock { state in
            if Task.isCancelled { return (CancellationError(), nil) }
            if state.isClosed { return (TransportError.closed(fate: .notSent), nil) }
            guard state.hasThread || TransferThread.begin(self, options) else {
                let error = TransportError(
                    .cannotConnect,
                    "The system gives no thread for the network; close what is not needed and try again.",
                    fate: .notSent
                )
                return (error, nil)
            }
            state.hasThread = true
            state.orders.append(.start(number, transfer, continuation))
            return (nil, state.takeWaker())
        }
        waker?.wake()
        if let refusal { continuation.resume(throwing: refusal) }
    }

    /// Ends a transfer that has not ended yet.
    func cancel(_ number: Int) { add(.cancel(number)) }

    /// Goes on with a transfer that was paused.
    func resume(_ number: Int) { add(.resume(number)) }

    private func add(_ order: Order) {
        let waker: Waker? = state.withLock { state in
            guard state.hasThread, !state.isClosed else { return nil }
            state.orders.append(order)
            return state.takeWaker()
        }
        waker?.wake()
    }

    /// Runs a piece of a task on the thread; false when it has to run elsewhere, because there is no thread.
    func run(_ job: TransferJob) -> Bool {
        let (isTaken, waker): (Bool, Waker?) = state.withLock { state in
            guard !state.isClosed, state.hasThread || TransferThread.begin(self, options) else { return (false, nil) }
            state.hasThread = true
            state.orders.append(.run(job))
            return (true, state.takeWaker())
        }
        waker?.wake()
        return isTaken
    }

    func close() {
        let waker = state.withLock { state in
            state.isClosed = true
            return state.takeWaker()
        }
        waker?.wake()
    }

    // MARK: For the thread

    /// The orders since the last call, in the order they came, and whether these are the last.
    func take() -> (orders: [Order], isClosed: Bool) {
        state.withLock { state in
            state.waker = nil
            defer { state.orders.removeAll(keepingCapacity: true) }
            return (state.orders, state.isClosed)
        }
    }

    /// The orders of a thread that could not begin; the next order tries again.
    func giveUp() -> [Order] {
        state.withLock { state in
            state.hasThread = false
            defer { state.orders = [] }
            return state.orders
        }
    }

    /// Promises to wake the thread at the next order; false when there is one already.
    func willWake(_ waker: Waker) -> Bool {
        state.withLock { state in
            guard state.orders.isEmpty, !state.isClosed else { return false }
            state.waker = waker
            return true
        }
    }
}

/// Wakes the thread that waits on its descriptor, which stays open as long as anybody might use it.
final class Waker: Sendable {
    let descriptor: Int32

    /// Nil when the system has no descriptor to give.
    init?() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    func wake() {
        // It fails only when the count is at its end, and then the thread is being woken already.
        _ = eventfd_write(descriptor, 1)
    }
}
#endif
