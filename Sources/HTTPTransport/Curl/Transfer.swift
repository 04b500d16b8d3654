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
    /// Why the transfer was ended from here.
    private var refusal: TransportError?
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
    func result(_ code: CURLcode) -> Result<HTTPResponse, TransportError> {
        if let refusal { return .failure(refusal) }
        // A server that refuses a large body closes while it is being sent; the answer was there first.
        let hasResponse = code == CURLE_OK || ((code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR) && isWhole)
        guard hasResponse else { return .failure(failure(code)) }
        guard head.isComplete else { return .failure(.cut(server, in: "head", fate: fate)) }
        let status = HTTPResponse.Status(code: head.status)
        return .success(HTTPResponse(status: status, headerFields: head.fields, body: body))
    }

    /// Whether the body has as many bytes as the head promised, as far as that can be told from here.
    private var isWhole: Bool {
        guard attempts > 0, head.isComplete, !head.fields.contains(.contentEncoding) else { return false }
        switch head.body {
        case .length(let length): return body.count == length
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
            refusal = .invalidResponse(server, error.reason)
            return false
        }
        if head.size > options.maximumHeadSize {
            refusal = .tooLarge(server, head: options.maximumHeadSize)
        } else if case .length(let length) = head.body, body.isEmpty {
            if length > options.maximumBodySize {
                refusal = .tooLarge(server, body: options.maximumBodySize)
            } else {
                // Memory follows what comes, not what is promised.
                body.reserveCapacity(min(length, 1 << 20))
            }
        }
        return refusal == nil
    }

    /// Takes a piece of the body; false ends the transfer.
    @unsafe
    func receive(piece: UnsafeRawBufferPointer) -> Bool {
        guard piece.count <= options.maximumBodySize - body.count else {
            refusal = .tooLarge(server, body: options.maximumBodySize)
            return false
        }
        unsafe body.append(contentsOf: piece)
        return true
    }

    // MARK: Standing still

    /// The connection was ready: something has come, or been taken.
    func moved(at instant: ContinuousClock.Instant) { lastMove = instant }

    /// When something last moved; now, when nothing has to: while it connects, and while the server thinks.
    func lastMovement(before now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        let isSending = attempts > 0 && handle.amount(CURLINFO_SIZE_UPLOAD_T) < order.request.body?.count ?? 0
        // Between interim answers and the real one the server thinks as well.
        if head.status == 0, !isSending { lastMove = now }
        return lastMove
    }
}
#endif
