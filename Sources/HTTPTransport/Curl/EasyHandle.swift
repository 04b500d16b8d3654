#if !canImport(Darwin)
internal import CCurl

/// A handle of libcurl's for one transfer after the other, with the memory that it wants to stay where it is.
@safe
final class EasyHandle {
    let pointer: OpaquePointer
    /// Who is told what comes, while a transfer is under way.
    unowned(unsafe) var transfer: Transfer?

    private let errorMemory: UnsafeMutablePointer<CChar>
    private let sending: UnsafeMutablePointer<ccurl_sending_context>
    private var fields = FieldList()
    /// The first code of an option that said no.
    private var code = CURLE_OK
    private var isTrustSet = false

    init(_ options: TransportOptions) throws(TransportError) {
        guard let pointer = unsafe curl_easy_init() else { throw .outOfMemory }
        unsafe self.pointer = pointer
        unsafe errorMemory = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorMemory.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe sending = .allocate(capacity: 1)
        unsafe sending.initialize(to: ccurl_sending_context())
        unsafe setPointer(CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
        unsafe setPointer(CURLOPT_ERRORBUFFER, errorMemory)
        setNetwork(options)
        setReceivers()
        guard code == CURLE_OK else { throw .outOfMemory }
    }

    deinit {
        unsafe curl_easy_cleanup(pointer)
        unsafe errorMemory.deallocate()
        unsafe sending.deallocate()
    }

    /// The object of a handle that libcurl gives back.
    @unsafe
    static func object(of pointer: OpaquePointer) -> EasyHandle? {
        unsafe object(at: ccurl_get_private(pointer))
    }

    @unsafe
    private static func object(at address: UnsafeMutableRawPointer?) -> EasyHandle? {
        guard let address = unsafe address else { return nil }
        return unsafe Unmanaged<EasyHandle>.fromOpaque(address).takeUnretainedValue()
    }

    // MARK: Settings for all transfers

    /// What libcurl would do by itself beyond one exchange with one server is off.
    private func setNetwork(_ options: TransportOptions) {
        note(unsafe ccurl_set_protocols(pointer))
        // Or else `/a/../b` would be sent as `/b`.
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // An app's signal handlers are its own.
        set(CURLOPT_NOSIGNAL, 1)
        if !options.usesProxyOfEnvironment { set(CURLOPT_PROXY, "") }
        // What a proxy answers on the way to the server is not the server's answer.
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        note(unsafe ccurl_set_private_sockets(pointer))
        note(unsafe ccurl_set_quick_exit(pointer))
        set(CURLOPT_TCP_KEEPALIVE, 1)
        // libcurl compares whole seconds, so that it waits up to one longer.
        set(CURLOPT_MAXAGE_CONN, Int(min(max(options.maximumIdleTime.components.seconds - 1, 1), Int64(Int32.max))))
        set(CURLOPT_FORBID_REUSE, options.keepsConnections ? 0 : 1)
        set(CURLOPT_FRESH_CONNECT, options.keepsConnections ? 0 : 1)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(options.connectTimeout))
    }

    private func setReceivers() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe sending.pointee.context = context
        unsafe sending.pointee.function = { context in
            unsafe EasyHandle.object(at: context)?.transfer?.isAboutToSend() ?? false
        }
        note(unsafe ccurl_set_sending(pointer, sending))
        let code = unsafe ccurl_set_receivers(
            pointer,
            { bytes, size, count, context in
                guard let transfer = unsafe EasyHandle.object(at: context)?.transfer else { return 0 }
                let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
                return unsafe transfer.receive(line: line) ? line.count : 0
            },
            { bytes, size, count, context in
                guard let transfer = unsafe EasyHandle.object(at: context)?.transfer else { return 0 }
                let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
                return unsafe transfer.receive(piece: piece)
            },
            context
        )
        note(code)
    }

    // MARK: Settings for one transfer

    /// Makes the handle ready for a request.
    func prepare(_ order: TransferRequest, _ options: TransportOptions, _ trust: TrustStore) throws(TransportError) {
        set(CURLOPT_URL, order.address.url)
        // Streamed bodies take the time they take.
        set(CURLOPT_TIMEOUT_MS, order.stream == nil ? Self.milliseconds(order.timeout) : 0)
        if order.address.isSecure, !isTrustSet {
            try trust.set(on: self)
            isTrustSet = true
        }
        setBody(of: order)
        setFields(of: order, keepsConnection: options.keepsConnections)
        guard code == CURLE_OK else { throw .outOfMemory }
    }

    private func setBody(of order: TransferRequest) {
        let request = order.request
        // Each takes back what the one before has set: an earlier request may have had another method.
        set(CURLOPT_HTTPGET, 1)
        if let length = order.contentStream?.body?.length {
            setSource(length)
        } else if hasBody(order) {
            // Without a length, some servers wait for a body where the method usually has one (RFC 9110, 8.6).
            let body = request.body ?? []
            let code = unsafe body.withUnsafeBytes { bytes in
                unsafe ccurl_set_body(pointer, bytes.baseAddress, curl_off_t(bytes.count))
            }
            note(code)
        } else if request.method == .head {
            set(CURLOPT_NOBODY, 1)
        }
        set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
    }

    /// Has the body of the request taken from whoever brings it.
    private func setSource(_ length: Int64) {
        let code = unsafe ccurl_set_source(
            pointer,
            { room, size, count, context in
                guard let transfer = unsafe EasyHandle.object(at: context)?.transfer else { return 0 }
                return unsafe transfer.fill(UnsafeMutableRawBufferPointer(start: room, count: size * count))
            },
            Unmanaged.passUnretained(self).toOpaque(),
            curl_off_t(length)
        )
        note(code)
    }

    /// Whether a body is sent, be it an empty one.
    private func hasBody(_ order: TransferRequest) -> Bool {
        order.bodySize != nil || [.post, .put, .patch].contains(order.request.method)
    }

    /// Far below the size from which libcurl asks for permission first.
    private static let smallBody = 64 * 1_024

    private func setFields(of order: TransferRequest, keepsConnection: Bool) {
        let request = order.request
        // What is decompressed has no bound while the transfer is paused.
        let isPlain = order.stream != nil || request.headerFields.contains(.acceptEncoding)
        set(CURLOPT_ACCEPT_ENCODING, isPlain ? nil : "gzip")
        let fields = FieldList()
        for field in request.headerFields {
            // A semicolon is libcurl's way to say that the value is empty, a colon alone that there is no such field.
            let isBlank = field.value.allSatisfy { $0 == " " || $0 == "\t" }
            fields.append(isBlank ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        // What libcurl adds by itself: a wait of a second before bodies of a megabyte and more, a form's type, and any
        // type as answer.
        if order.bodySize ?? 0 > Self.smallBody { fields.append("Expect:") }
        if hasBody(order), !request.headerFields.contains(.contentType) { fields.append("Content-Type:") }
        if !request.headerFields.contains(.accept) { fields.append("Accept:") }
        if !keepsConnection { fields.append("Connection: close") }
        if !fields.isComplete { note(CURLE_OUT_OF_MEMORY) }
        note(unsafe ccurl_set_header_list(pointer, fields.first))
        self.fields = fields
    }

    // MARK: Setting and asking

    private func set(_ option: CURLoption, _ value: Int) { note(unsafe ccurl_set_long(pointer, option, value)) }

    func set(_ option: CURLoption, _ value: String?) { note(unsafe ccurl_set_string(pointer, option, value)) }

    @unsafe
    private func setPointer(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) {
        note(unsafe ccurl_set_pointer(pointer, option, value))
    }

    private func note(_ code: CURLcode) { if self.code == CURLE_OK { self.code = code } }

    /// Whole milliseconds, at least one: zero would mean no limit.
    private static func milliseconds(_ duration: Duration) -> Int {
        Int(min(max((duration / .milliseconds(1)).rounded(.up), 1), Double(Int32.max)))
    }

    /// A number that libcurl knows of the last transfer; 0 when it does not.
    func number(_ information: CURLINFO) -> Int {
        var value = 0
        _ = unsafe ccurl_get_long(pointer, information, &value)
        return value
    }

    /// A size or a time that libcurl knows of the last transfer; 0 when it does not.
    func amount(_ information: CURLINFO) -> Int {
        var value: curl_off_t = 0
        _ = unsafe ccurl_get_offset(pointer, information, &value)
        return value
    }

    /// libcurl's words for a failure.
    func text(of code: CURLcode) -> String {
        let said = unsafe String(cString: errorMemory)
        return said.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : said
    }
}

/// Header fields as libcurl takes them. It does not copy them: they have to stay until the transfer has ended.
@safe
private final class FieldList {
    private(set) var first: UnsafeMutablePointer<curl_slist>?
    /// Whether there was memory for all.
    private(set) var isComplete = true

    deinit { unsafe curl_slist_free_all(first) }

    func append(_ line: String) {
        guard let longer = unsafe curl_slist_append(first, line) else {
            isComplete = false
            return
        }
        unsafe first = longer
    }
}
#endif
