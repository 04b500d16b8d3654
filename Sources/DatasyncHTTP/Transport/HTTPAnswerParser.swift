internal import HTTPTypes

/// Reads one answer of HTTP/1.1 (RFC 9112) from the bytes of a connection, in whatever pieces they come.
struct HTTPAnswerParser {
    /// Why the bytes are no answer.
    struct Malformed: Error {
        var reason: String
    }

    /// The body has more bytes than allowed.
    struct TooLarge: Error {}

    private enum Body {
        case none
        case length(Int)
        case chunked
        case untilClose
    }

    private let maximumBodySize: Int
    private static let maximumHeadSize = 64 * 1_024
    private var bytes: [UInt8] = []
    private var head: (response: HTTPResponse, body: Body)?
    /// The content of the chunks that were complete.
    private var content: [UInt8] = []
    private var sawLastChunk = false
    /// How far the search for the end of the head has come, and whether nothing but its end followed the last line's.
    private var scanned = 0
    private var lineIsEmpty = false

    init(maximumBodySize: Int) { self.maximumBodySize = maximumBodySize }

    /// Takes bytes in; returns the answer as soon as it is complete.
    mutating func receive(_ more: some Sequence<UInt8>) throws -> (response: HTTPResponse, body: [UInt8])? {
        bytes += more
        if head == nil, try !readHead() { return nil }
        return try answer(isClosed: false)
    }

    /// The connection was closed: returns the answer if that is where it ends, nil when it is cut off.
    mutating func close() throws -> (response: HTTPResponse, body: [UInt8])? {
        head == nil ? nil : try answer(isClosed: true)
    }

    private mutating func answer(isClosed: Bool) throws -> (response: HTTPResponse, body: [UInt8])? {
        guard let head else { return nil }
        switch head.body {
        case .none: return (head.response, [])
        case .length(let length):
            guard length <= maximumBodySize else { throw TooLarge() }
            return bytes.count >= length ? (head.response, Array(bytes.prefix(length))) : nil
        case .untilClose:
            guard bytes.count <= maximumBodySize else { throw TooLarge() }
            return isClosed ? (head.response, bytes) : nil
        case .chunked: return try chunks().map { (head.response, $0) }
        }
    }

    // MARK: Head

    private mutating func readHead() throws -> Bool {
        while let end = endOfHead() {
            let (response, fields) = try Self.parseHead(bytes[..<end])
            bytes.removeFirst(end)
            // Interim answers are followed by the real one.
            if (100...199).contains(response.status.code) { continue }
            head = (response, try Self.body(response, fields))
            return true
        }
        guard bytes.count <= Self.maximumHeadSize else { throw Malformed(reason: "its head is too long") }
        return false
    }

    /// The position after the empty line that ends a head; looks at every byte once.
    private mutating func endOfHead() -> Int? {
        while scanned < bytes.count {
            let byte = bytes[scanned]
            scanned += 1
            switch byte {
            case 10:
                if lineIsEmpty {
                    defer { scanned = 0 }
                    lineIsEmpty = false
                    return scanned
                }
                lineIsEmpty = true
            case 13: break
            default: lineIsEmpty = false
            }
        }
        return nil
    }

    private static func parseHead(_ head: ArraySlice<UInt8>) throws -> (HTTPResponse, HTTPFields) {
        var lines = head.split(separator: 10).map { String(decoding: $0.filter { $0 != 13 }, as: UTF8.self) }
            .filter { !$0.isEmpty }
        guard !lines.isEmpty else { throw Malformed(reason: "it has no status line") }
        let status = lines.removeFirst().split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard status.count >= 2, status[0].hasPrefix("HTTP/1."), status[1].utf8.count == 3, let code = Int(status[1]),
            code >= 100
        else { throw Malformed(reason: "its status line is no HTTP") }
        var fields = HTTPFields()
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
                throw Malformed(reason: "it has a line in its head that is no field")
            }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            fields.append(HTTPField(name: name, value: String(value)))
        }
        return (HTTPResponse(status: .init(code: code), headerFields: fields), fields)
    }

    /// How the body ends (RFC 9112, section 6.3).
    private static func body(_ response: HTTPResponse, _ fields: HTTPFields) throws -> Body {
        if response.status.code == 204 || response.status.code == 304 { return .none }
        if let coding = fields[.transferEncoding] {
            guard coding.lowercased() == "chunked" else { throw Malformed(reason: "its transfer coding is unknown") }
            return .chunked
        }
        guard let text = fields[.contentLength] else { return .untilClose }
        guard let length = Int(text), length >= 0 else { throw Malformed(reason: "its length is no number") }
        return .length(length)
    }

    // MARK: Chunks

    /// The content of all chunks, nil when the last one has not come yet (RFC 9112, section 7.1).
    private mutating func chunks() throws -> [UInt8]? {
        var rest = bytes[...]
        defer { bytes = Array(rest) }
        while !sawLastChunk {
            var ahead = rest
            guard let line = Self.takeLine(&ahead) else { return nil }
            let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 32 }
            guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size >= 0 else {
                throw Malformed(reason: "a chunk has no size")
            }
            guard size <= maximumBodySize - content.count else { throw TooLarge() }
            if size == 0 {
                sawLastChunk = true
                rest = ahead
                break
            }
            let chunk = ahead.prefix(size)
            ahead = ahead.dropFirst(size)
            guard chunk.count == size, let end = Self.takeLine(&ahead) else { return nil }
            guard end.isEmpty else { throw Malformed(reason: "a chunk is longer than its size") }
            content += chunk
            rest = ahead
        }
        while let trailer = Self.takeLine(&rest) {
            if trailer.isEmpty { return content }
        }
        return nil
    }

    private static func takeLine(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let end = rest.firstIndex(of: 10) else { return nil }
        var line = rest[rest.startIndex..<end]
        if line.last == 13 { line.removeLast() }
        rest = rest[(end + 1)...]
        return line
    }
}
