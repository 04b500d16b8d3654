#if !canImport(Darwin)
internal import CCurl

/// One request on its way, and the answer as far as it has come. It lives on the driving thread.
final class Transfer {
    let number: Int
    let handle: EasyHandle
    private let order: TransferRequest
    private let options: TransportOptions
    private var continuation: TransferDriver.Continuation?

    private var head: ResponseHead
    private var body: [UInt8] = []
    /// How often the request was, or was about to be, written to a connection.
    private var attempts = 0
    /// What becomes of the body; nil until the head is there.
    private var reception: BodyReception?
    private var receivedCount: Int64 = 0
    /// What waits for the tasks behind the stream.
    private var isSendPaused = false
    private var isReceivePaused = false
    /// Whether the server has answered and libcurl may still wait for a body that it will not send any more.
    private var isAnsweredEarly = false
    /// Why the transfer was ended from here.
    private var refusal: (any Error)?
    /// When something last moved.
    private var lastMove: ContinuousClock.Instant

    var server: String { order.address.server }

    var fate: TransportError.Fate { attempts == 0 ? .notSent : .mayHaveBeenProcessed }

    init(
        _ number: Int,
        _ order: TransferRequest,
        _ options: TransportOptions,
        _ handle: EasyHandle,
        _ trust: TrustStore,
        _ now: ContinuousClock.Instant
    ) throws(TransportError) {
        self.number = number
        self.order = order
        self.options = options
        self.handle = handle
        lastMove = now
        head = ResponseHead(to: order.request.method)
        try handle.prepare(order, options, trust)
    }

    // MARK: Beginning and end

    /// Begins; whoever calls keeps the transfer until its end.
    @unsafe
    func begin(on multi: OpaquePointer, _ continuation: TransferDriver.Continuation) throws(TransportError) {
        guard unsafe curl_multi_add_handle(multi, handle.pointer) == CURLM_OK else { throw .outOfMemory }
        unsafe handle.transfer = self
        self.continuation = continuation
    }

    /// Ends; whoever waits has to be told the result.
    @unsafe
    func end(on multi: OpaquePointer) -> TransferDriver.Continuation? {
        _ = unsafe curl_multi_remove_handle(multi, handle.pointer)
        unsafe handle.transfer = nil
        defer { continuation = nil }
        return continuation
    }

    /// The answer, or why there is none, when libcurl has ended with a code.
    func result(_ code: CURLcode) -> Result<HTTPResponse, any Error> {
        if let refusal { return .failure(refusal) }
        // A server that refuses a large body closes while it is being sent; the answer was there first.
        let hasResponse = code == CURLE_OK || ((code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR) && isWhole)
        guard hasResponse else { return .failure(failure(code)) }
        guard head.isComplete else { return .failure(TransportError.cut(server, in: "head", fate: fate)) }
        var response = responseHead
        response.body = body
        return .success(response)
    }

    private var responseHead: HTTPResponse {
        HTTPResponse(status: HTTPResponse.Status(code: head.status), headerFields: head.fields)
    }

    /// Whether the body has as many bytes as the head promised, as far as that can be told from here.
    private var isWhole: Bool {
        guard attempts > 0, head.isComplete, !head.fields.contains(.contentEncoding) else { return false }
        switch head.body {
        case .length(let length): return receivedCount == length
        case .some(.none): return true
        case .chunked, nil: return false
        }
    }

    private func failure(_ code: CURLcode) -> TransportError {
        CurlFailure(
            code: code,
            text: handle.text(of: code),
            verification: handle.number(CURLINFO_SSL_VERIFYRESULT),
            attempts: attempts,
            hasHead: head.isComplete,
            order: order,
            options: options
        )
        .error
    }

    // MARK: What libcurl tells

    /// The request is about to be written to a connection; false when it has been once already.
    ///
    /// libcurl sends a request again, whatever its method, when a kept connection breaks before the first byte of the
    /// answer. Whether that is right it cannot know.
    func isAboutToSend() -> Bool {
        attempts += 1
        return attempts == 1
    }

    /// Takes a line of the head; false ends the transfer.
    @unsafe
    func receive(line: UnsafeRawBufferPointer) -> Bool {
        do {
            try unsafe head.receive(line: line)
        } catch {
            refusal = TransportError.invalidResponse(server, error.reason)
            return false
        }
        if head.size > options.maximumHeadSize {
            refusal = TransportError.tooLarge(server, head: options.maximumHeadSize)
        } else if head.isComplete, reception == nil {
            beginBody()
        }
        return refusal == nil
    }

    /// Decides what becomes of the body, now that the head is there.
    private func beginBody() {
        do {
            reception = try order.stream?.reception(of: responseHead) ?? .held
        } catch {
            refusal = error
            return
        }
        isAnsweredEarly = head.status >= 300 && order.contentStream != nil
        guard case .length(let length) = head.body else { return }
        if Int64(length) > limit {
            refusal = TransportError.tooLarge(server, body: Int(limit))
        } else if case .held = reception {
            // Memory follows what comes, not what is promised.
            body.reserveCapacity(min(length, 1 << 20))
        }
    }

    /// The most bytes that the body may have.
    private var limit: Int64 {
        if case .streamed(let limit, _) = reception { limit } else { Int64(options.maximumBodySize) }
    }

    /// Takes a piece of the body; gives what libcurl wants to hear: how much was taken, or a pause.
    @unsafe
    func receive(piece: UnsafeRawBufferPointer) -> Int {
        guard Int64(piece.count) <= limit - receivedCount else {
            refusal = TransportError.tooLarge(server, body: Int(limit))
            return 0
        }
        if case .streamed = reception {
            guard unsafe order.stream?.put(piece) ?? false else {
                isReceivePaused = true
                return Int(CURL_WRITEFUNC_PAUSE)
            }
        } else {
            unsafe body.append(contentsOf: piece)
        }
        receivedCount += Int64(piece.count)
        return piece.count
    }

    // MARK: Streams

    /// Gives bytes of the request's body; libcurl hears how many, or a pause.
    @unsafe
    func fill(_ room: UnsafeMutableRawBufferPointer) -> Int {
        guard let count = unsafe order.stream?.take(into: room) else {
            isSendPaused = true
            return Int(CURL_READFUNC_PAUSE)
        }
        return count
    }

    /// Goes on with what was paused, where the stream is ready for it.
    func resume() -> CURLcode {
        guard let readiness = order.stream?.readiness else { return CURLE_OK }
        isSendPaused = isSendPaused && !readiness.toSend && !isAnsweredEarly
        isReceivePaused = isReceivePaused && !readiness.toReceive
        isAnsweredEarly = false
        let pauses = (isSendPaused ? CURLPAUSE_SEND : 0) | (isReceivePaused ? CURLPAUSE_RECV : 0)
        return unsafe curl_easy_pause(handle.pointer, pauses)
    }

    /// The transfers whose server has answered before it had the whole body.
    ///
    /// libcurl then sends no more of it, but waits for ever where that was paused just then.
    static func takeAnsweredEarly(from transfers: [Int: Transfer]) -> [Transfer] {
        transfers.values.filter { $0.isAnsweredEarly && $0.isSendPaused }
    }

    // MARK: Standing still

    /// The connection was ready: something has come, or been taken.
    func moved(at instant: ContinuousClock.Instant) { lastMove = instant }

    /// Until when it may stand still, and the error of having stood still for that long.
    func patience(at now: ContinuousClock.Instant) -> (ContinuousClock.Instant, TransportError) {
        let isSending = attempts > 0 && handle.amount(CURLINFO_SIZE_UPLOAD_T) < order.bodySize ?? 0
        // Between interim answers and the real one the server thinks as well.
        let isThinking = head.status == 0 && !isSending
        if isThinking, order.stream != nil, attempts > 0 {
            return (lastMove + order.timeout, .timedOut(server, after: order.timeout, fate: fate))
        }
        // Nothing has to move while it connects, while the server thinks, and while it is the tasks that are waited for.
        if isThinking || isSendPaused || isReceivePaused { lastMove = now }
        return (lastMove + options.stallTimeout, .stalled(server, for: options.stallTimeout, fate: fate))
    }
}
#endif
