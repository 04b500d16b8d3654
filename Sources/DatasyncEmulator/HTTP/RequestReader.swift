/// Reads requests from bytes that arrive in pieces of any size, without any I/O of its own.
///
/// Requests come out in the order they came in. Nothing is guessed: what RFC 9112 does not allow, and some of what it
/// allows but two readers could see differently, is refused, and after a refusal there is no further event. The events
/// depend on the bytes alone, never on how they were cut into pieces.
struct RequestReader {
    enum Event {
        case request(ReceivedRequest)
        /// A request whose body is to be taken by `takeBody` until nothing is missing, before anything else. Whether its
        /// sender waits for a 100 is in the head.
        case streamed(RequestHead)
        /// The head is there, is acceptable, and its sender waits for a 100 before it sends the body.
        case continueIsExpected
        /// With the head, where that was whole and acceptable.
        case refusal(RequestRefusal, RequestHead?)
    }

    /// What is being waited for.
    enum Phase {
        /// Nothing of the next request is there.
        case idle
        case head
        case body
    }

    private enum State {
        case line
        case fields(RequestLine, HTTPHeaderFields, room: Int)
        case sized(RequestHead, body: [UInt8], length: Int)
        case chunked(RequestHead, ChunkedBody)
        case streamed(missing: Int)
        case refused
    }

    private let limits: RequestLimits
    private var buffer = MessageBuffer()
    private var state = State.line

    private let streams: (RequestHead) -> Bool

    /// - Parameters:
    ///   - limits: What is refused. A body that is streamed may have any size.
    ///   - streams: Whether a body, of which it is said how long it is, is handed on as it comes.
    init(_ limits: RequestLimits, streams: @escaping (RequestHead) -> Bool = { _ in false }) {
        self.limits = limits
        self.streams = streams
    }

    /// How many bytes of a streamed body are still to come, or to be taken.
    var missingBody: Int { if case .streamed(let missing) = state { missing } else { 0 } }

    /// Takes what is there of a streamed body.
    mutating func takeBody() -> [UInt8] {
        guard case .streamed(let missing) = state else { return [] }
        let bytes = Array(buffer.take(atMost: missing))
        state = bytes.count == missing ? .line : .streamed(missing: missing - bytes.count)
        if bytes.count == missing { buffer.takenCount = 0 }
        return bytes
    }

    var phase: Phase {
        switch state {
        case .line: buffer.takenCount == 0 && buffer.count == 0 ? .idle : .head
        case .fields: .head
        case .sized, .chunked, .streamed, .refused: .body
        }
    }

    mutating func append(_ bytes: some Collection<UInt8>) {
        buffer.append(bytes)
    }

    /// The next event; nil when more bytes are needed for one.
    mutating func next() -> Event? {
        var head: RequestHead?
        do throws(RequestRefusal) {
            return try nextEvent(&head)
        } catch {
            state = .refused
            return .refusal(error, head)
        }
    }

    private mutating func nextEvent(_ acceptedHead: inout RequestHead?) throws(RequestRefusal) -> Event? {
        while true {
            switch state {
            case .line:
                guard let line = try requestLine() else { return nil }
                state = .fields(line, [:], room: limits.fields)
            case .fields(let line, var fields, let room):
                guard let text = try self.line(limit: room, else: .fieldsTooLarge) else { return nil }
                guard text.isEmpty else {
                    // Not in two places at once, lest each addition copies what came before it.
                    state = .refused
                    let field = try FieldLine.parse(text)
                    fields.append(field.name, field.value)
                    state = .fields(line, fields, room: room - text.count - 2)
                    continue
                }
                let head = try RequestHead(line, fields)
                acceptedHead = head
                if case .length(let length) = head.framing, length > 0, streams(head) {
                    state = .streamed(missing: length)
                    return .streamed(head)
                }
                try beginBody(of: head)
                if head.expectsContinue { return .continueIsExpected }
            case .sized(let head, var body, let length):
                state = .refused
                body.append(contentsOf: buffer.take(atMost: length - body.count))
                guard body.count == length else {
                    state = .sized(head, body: body, length: length)
                    return nil
                }
                return .request(finish(head, body))
            case .chunked(let head, var body):
                acceptedHead = head
                state = .refused
                guard try body.read(from: &buffer) else {
                    state = .chunked(head, body)
                    return nil
                }
                return .request(finish(head, body.bytes))
            case .streamed, .refused: return nil
            }
        }
    }

    /// The request line. One empty line before it is read over (RFC 9112 2.2).
    private mutating func requestLine() throws(RequestRefusal) -> RequestLine? {
        while let first = buffer.first {
            let isEmptyLine = first == ByteClasses.carriageReturn && buffer.takenCount == 0
            // Told by the first byte, so that whoever speaks another protocol, such as TLS, is not kept waiting.
            guard isEmptyLine || ByteClasses.isToken(first) else { throw .malformed("this is not an HTTP request") }
            guard let line = try self.line(limit: limits.requestLine, else: .targetTooLong) else { return nil }
            if !line.isEmpty { return try RequestLine(line) }
        }
        return nil
    }

    private mutating func line(limit: Int, else refusal: RequestRefusal) throws(RequestRefusal) -> ArraySlice<UInt8>? {
        do {
            return try buffer.line(limit: limit)
        } catch .tooLong {
            throw refusal
        } catch {
            throw .malformed("a line of the head ends with a line feed alone")
        }
    }

    private mutating func beginBody(of head: RequestHead) throws(RequestRefusal) {
        switch head.framing {
        case .chunked: state = .chunked(head, ChunkedBody(limits))
        case .length(let length):
            guard length <= limits.body else { throw .bodyTooLarge }
            state = .sized(head, body: [], length: length)
        }
    }

    private mutating func finish(_ head: RequestHead, _ body: [UInt8]) -> ReceivedRequest {
        let request = ReceivedRequest(head: head, body: body, byteCount: buffer.takenCount)
        buffer.takenCount = 0
        state = .line
        return request
    }
}

/// A whole request.
struct ReceivedRequest: Sendable {
    let head: RequestHead
    /// Without what chunks add to it.
    let body: [UInt8]
    /// How many bytes it was on the wire.
    let byteCount: Int
}
