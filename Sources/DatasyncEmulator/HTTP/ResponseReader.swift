/// Finds where the answers end in what a server sends, without any I/O of its own; for a proxy, which passes bytes on.
struct ResponseReader {
    /// How many bytes, from the first that was not in an event yet, are what.
    enum Event: Equatable {
        /// A head that another one follows, such as that of a 100.
        case interim(byteCount: Int)
        case response(byteCount: Int)
    }

    private enum State {
        case statusLine
        case fields(status: Int, HTTPHeaderFields)
        case sized(missing: Int)
        case chunked(ChunkedBody)
        case untilEnd
    }

    private static let limits = RequestLimits(requestLine: 65_536, fields: 65_536, body: 1 << 30)

    private var buffer = MessageBuffer()
    private var state = State.statusLine
    /// Whether the latest answer says that the connection ends with it.
    private(set) var isLast = false

    mutating func append(_ bytes: [UInt8]) {
        buffer.append(bytes)
    }

    /// The next event; nil when more bytes are needed for one. An answer to HEAD has no body, whatever it says.
    mutating func next(isToHead: Bool) throws -> Event? {
        while true {
            switch state {
            case .statusLine:
                guard let line = try buffer.line(limit: Self.limits.requestLine) else { return nil }
                let parts = line.split(separator: ByteClasses.space, maxSplits: 2)
                guard parts.count > 1, let status = ByteClasses.number(parts[1]) else {
                    throw RequestRefusal.malformed("this is not an HTTP answer")
                }
                state = .fields(status: status, [:])
            case .fields(let status, var fields):
                guard let line = try buffer.line(limit: Self.limits.fields) else { return nil }
                guard line.isEmpty else {
                    let field = try FieldLine.parse(line)
                    fields.append(field.name, field.value)
                    state = .fields(status: status, fields)
                    continue
                }
                guard status / 100 != 1 else { return .interim(byteCount: finish()) }
                try beginBody(isToHead ? 204 : status, fields)
            case .sized(let missing):
                let left = missing - buffer.take(atMost: missing).count
                state = .sized(missing: left)
                return left == 0 ? .response(byteCount: finish()) : nil
            case .chunked(var body):
                state = .statusLine
                guard try body.read(from: &buffer) else {
                    state = .chunked(body)
                    return nil
                }
                return .response(byteCount: finish())
            case .untilEnd:
                _ = buffer.take(atMost: buffer.count)
                return nil
            }
        }
    }

    /// What the end of the connection means: the end of an answer that has neither length nor chunks, or nothing.
    mutating func end() -> Event? {
        guard case .untilEnd = state else { return nil }
        isLast = true
        return .response(byteCount: finish())
    }

    /// RFC 9112 6.3.
    private mutating func beginBody(_ status: Int, _ fields: HTTPHeaderFields) throws(RequestRefusal) {
        isLast = fields.list("Connection").contains("close")
        if status == 204 || status == 304 {
            state = .sized(missing: 0)
        } else if fields.list("Transfer-Encoding").last == "chunked" {
            state = .chunked(ChunkedBody(Self.limits))
        } else if let text = fields["Content-Length"] {
            guard let length = ByteClasses.number(text.utf8) else { throw .malformed("the length is not a number") }
            state = .sized(missing: length)
        } else {
            state = .untilEnd
        }
    }

    private mutating func finish() -> Int {
        defer { buffer.takenCount = 0 }
        state = .statusLine
        return buffer.takenCount
    }
}
