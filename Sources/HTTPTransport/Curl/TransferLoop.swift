#if !canImport(Darwin)
internal import CCurl

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Takes orders, lets libcurl do what can be done, hands results over and waits; all on one thread.
@safe
final class TransferLoop {
    /// libcurl's own preparation, once for the process.
    private static let isPrepared = ccurl_global_init() == CURLE_OK

    private let driver: TransferDriver
    private let options: TransportOptions
    private let multi: OpaquePointer
    private let waker: Waker
    private let watch: SocketWatch
    private let trust: TrustStore
    private var transfers: [Int: Transfer] = [:]
    /// What has ended and is still to be handed over.
    private var results: [(TransferDriver.Continuation, Result<HTTPResponse, any Error>)] = []
    /// Handles of transfers that ended well, for the next ones.
    private var idleHandles: [EasyHandle] = []
    /// When to look for transfers that stand still; nil while there are none.
    private var nextLook: ContinuousClock.Instant?

    /// How many idle connections are kept. libcurl's own measure follows the transfers under way, so that tasks that
    /// take turns would open new connections again and again.
    private static let keptConnections = 32

    /// Nil when there is no memory for it.
    init?(_ driver: TransferDriver, _ options: TransportOptions) {
        guard Self.isPrepared, let waker = Waker(), let multi = unsafe curl_multi_init() else { return nil }
        self.driver = driver
        self.options = options
        unsafe self.multi = multi
        self.waker = waker
        watch = SocketWatch(waking: waker.descriptor)
        trust = TrustStore(additionalFile: options.additionalCertificateFile)
        guard unsafe watch.attach(to: multi),
            unsafe ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Self.keptConnections) == CURLM_OK
        else { return nil }
    }

    deinit { _ = unsafe curl_multi_cleanup(multi) }

    func run() {
        while true {
            let (orders, isClosed) = driver.take()
            for order in orders { carryOut(order) }
            if isClosed { break }
            // What tasks that ran here have ordered; the sockets come before what follows from that.
            if !orders.isEmpty { for order in driver.take().orders { carryOut(order) } }
            // Once: after much of a fast answer libcurl asks to be called again at once, but orders come first.
            if watch.takeAlarm() { act(on: CURL_SOCKET_TIMEOUT, 0) }
            endStalled()
            handOver()
            // With orders there already it only looks: they must not keep the sockets from being served for ever.
            let limit = driver.willWake(waker) ? nextLook : watch.now
            for (socket, events) in watch.wait(until: limit) {
                if let number = watch.owner(of: socket) { transfers[number]?.moved(at: watch.now) }
                act(on: socket, events)
            }
            handOver()
        }
        for transfer in Array(transfers.values) { end(transfer, .failure(TransportError.closed(fate: transfer.fate))) }
        handOver()
    }

    // MARK: Orders

    private func carryOut(_ order: TransferDriver.Order) {
        switch order {
        case .start(let number, let request, let continuation):
            do throws(TransportError) {
                let handle = if let idle = idleHandles.popLast() { idle } else { try EasyHandle(options) }
                let transfer = try Transfer(number, request, options, handle, trust, watch.now)
                try unsafe transfer.begin(on: multi, continuation)
                transfers[number] = transfer
                let look = watch.now + min(options.stallTimeout, request.timeout)
                nextLook = min(nextLook ?? look, look)
            } catch {
                continuation.resume(throwing: error)
            }
        case .cancel(let number):
            if let transfer = transfers[number] { end(transfer, .failure(CancellationError())) }
        case .resume(let number):
            guard let transfer = transfers[number] else { return }
            transfer.moved(at: watch.now)
            resume(transfer)
        case .run(let job): job.run()
        }
    }

    private func resume(_ transfer: Transfer) {
        let code = transfer.resume()
        if code != CURLE_OK { end(transfer, transfer.result(code)) }
    }

    // MARK: Results

    /// Lets libcurl do what a socket, or its alarm, makes possible, and ends what has ended by it.
    private func act(on socket: curl_socket_t, _ events: Int32) {
        var running: Int32 = 0
        _ = unsafe curl_multi_socket_action(multi, socket, events, &running)
        var code = CURLE_OK
        while let handle = unsafe ccurl_next_ended(multi, &code) {
            guard let transfer = unsafe EasyHandle.object(of: handle)?.transfer else { continue }
            let result = transfer.result(code)
            // A handle is used again only after what is sure to have left nothing behind in it.
            if case .success = result, idleHandles.count < Self.keptConnections { idleHandles.append(transfer.handle) }
            end(transfer, result)
        }
        for transfer in Transfer.takeAnsweredEarly(from: transfers) { resume(transfer) }
    }

    private func end(_ transfer: Transfer, _ result: Result<HTTPResponse, any Error>) {
        transfers[transfer.number] = nil
        if let continuation = unsafe transfer.end(on: multi) { results.append((continuation, result)) }
    }

    /// Hands over what has ended, all at once: the threads of the pool are woken once for many, not for each.
    private func handOver() {
        for (continuation, result) in results { continuation.resume(with: result) }
        results.removeAll(keepingCapacity: true)
    }

    // MARK: Time

    /// Ends transfers that have stood still for too long, and notes when to look again.
    private func endStalled() {
        guard let look = nextLook, look <= watch.now else { return }
        nextLook = nil
        for transfer in Array(transfers.values) {
            let (limit, error) = transfer.patience(at: watch.now)
            if limit <= watch.now {
                end(transfer, .failure(error))
            } else {
                nextLook = min(nextLook ?? limit, limit)
            }
        }
    }
}
#endif
