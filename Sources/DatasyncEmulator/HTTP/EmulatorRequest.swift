public import Foundation

/// One HTTP request, as the emulator's core takes it.
public struct EmulatorRequest: Sendable {
    /// The method, in upper case: the genuine servers' routes ignore its case.
    public var method: String
    /// The path as sent, percent-encoded.
    public var path: String
    /// The query as sent, percent-encoded, without the question mark; empty when there is none.
    public var query: String
    /// The header fields, repeated ones as often as they were sent.
    public var headers: HTTPHeaderFields
    /// The body; empty when there is none.
    public var body: Data
    /// Gives the next bytes of a body that is not in `body`, because it may be large; nil at the end.
    package var content: (@Sendable () async throws -> [UInt8]?)?
    /// How the request came, `http` or `https`: for the URLs that answers contain.
    var scheme = "http"
    /// Whether the body is larger than what is accepted; a server then stops reading and leaves it out.
    var isBodyTooLarge = false

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - method: The method; it is taken in upper case.
    ///   - target: Path and query as they stand in a request line, percent-encoded.
    ///   - headers: The header fields.
    ///   - body: The body.
    public init(_ method: String, _ target: String, headers: HTTPHeaderFields = [:], body: Data = Data()) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.method = method.uppercased()
        self.path = parts.first.map(String.init) ?? ""
        self.query = parts.count > 1 ? String(parts[1]) : ""
        self.headers = headers
        self.body = body
    }

    /// The options of the query in their order, decoded: `+` and `%20` are spaces, `%2B` is a plus.
    ///
    /// An escape that is not an escape stands for itself; bytes that are not UTF-8 become U+FFFD.
    public var options: [(name: String, value: String)] {
        query.split(separator: "&")
            .map { part in
                let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = PercentEncoding.decodeLeniently(pair[0], plusIsSpace: true)
                return (name, pair.count > 1 ? PercentEncoding.decodeLeniently(pair[1], plusIsSpace: true) : "")
            }
    }

    /// The token with which the request says who sends it.
    var bearerToken: String? {
        guard let field = headers["Authorization"], field.lowercased().hasPrefix("bearer ") else {
            return headers["X-ZUMO-AUTH"]
        }
        return field.dropFirst("bearer ".count).trimmingCharacters(in: .whitespaces)
    }

    /// The segments of the path, decoded, without one trailing slash; nil when an escape is malformed.
    var segments: [String]? {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)[...]
        if parts.first == "" { parts.removeFirst() }
        if parts.last == "" { parts.removeLast() }
        var segments: [String] = []
        for part in parts {
            guard let segment = PercentEncoding.decode(part) else { return nil }
            segments.append(segment)
        }
        return segments
    }

    /// The segments of the path as Kestrel sees them, without one trailing slash; nil when one of them holds a NUL.
    ///
    /// Dots are resolved, also encoded ones. An encoded slash stays encoded, and so does what is no escape or no UTF-8.
    var kestrelSegments: [String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        var segments: [String] = []
        for (index, part) in parts.enumerated() where index > 0 || part != "" {
            let segment = PercentEncoding.decodeKeepingSlashes(part)
            if segment.utf8.contains(0) { return nil }
            guard segment == "." || segment == ".." else {
                segments.append(segment)
                continue
            }
            if segment == ".." { _ = segments.popLast() }
            if index == parts.count - 1 { segments.append("") }
        }
        if segments.last == "" { segments.removeLast() }
        return segments
    }

    /// How long the request line is, or would be, with its line break, in bytes.
    var lineLength: Int {
        let target = path.utf8.count + (query.isEmpty ? 0 : query.utf8.count + 1)
        return method.utf8.count + target + " HTTP/1.1\r\n".utf8.count + 1
    }

    /// The whole URL as ASP.NET shows it: the path without its escapes, the query as sent.
    var displayedURL: String {
        let decoded = PercentEncoding.decode(path[...]) ?? path
        let isPlain = decoded.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        let host = headers["Host"] ?? "localhost"
        return "\(scheme)://\(host)\(isPlain ? decoded : path)" + (query.isEmpty ? "" : "?" + query)
    }

    /// The media type without its parameters, in lower case; nil when there is none.
    var mediaType: String? {
        headers["Content-Type"]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces).lowercased()
    }
}
