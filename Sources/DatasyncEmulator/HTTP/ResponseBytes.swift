import Foundation

/// An answer as it goes over the wire, head and body in one so that they can be written at once.
enum ResponseBytes {
    /// Whether a connection goes on after an answer, and whether that has to be said.
    enum Persistence {
        case usual
        /// For HTTP/1.0, where it is not usual.
        case announced
        case ends
    }

    static let `continue` = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// The answer's bytes, up to a body that is a file; nil when its status is none of a final answer or a field would not stay one line.
    ///
    /// A 204 and a 304 have neither body nor length, and the answer to HEAD has the length of the body it leaves out. A
    /// body in chunks is one chunk, where the client knows chunks.
    static func encode(
        _ response: EmulatorResponse,
        isToHead: Bool,
        _ persistence: Persistence,
        toVersion1Point0: Bool = false
    ) -> [UInt8]? {
        guard (200...999).contains(response.status), response.headers.allSatisfy(isOneLine) else { return nil }
        var lines = ["HTTP/1.1 \(response.status) \(phrase(response.status))"]
        for (name, value) in response.headers where !ownFields.contains(name.lowercased()) {
            lines.append("\(name): \(value)")
        }
        if response.headers["Date"] == nil { lines.append("Date: \(EmulatorResponse.dateOfNow)") }
        let hasBody = response.status != 204 && response.status != 304
        let isChunked = response.isChunked && hasBody && !response.body.isEmpty && !toVersion1Point0
        if hasBody { lines.append(isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(response.bodyCount)") }
        switch persistence {
        case .usual: break
        case .announced: lines.append("Connection: keep-alive")
        case .ends: lines.append("Connection: close")
        }
        var bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        guard hasBody, !isToHead else { return bytes }
        if isChunked { bytes.append(contentsOf: (String(response.body.count, radix: 16) + "\r\n").utf8) }
        bytes.append(contentsOf: response.body)
        if isChunked { bytes.append(contentsOf: "\r\n0\r\n\r\n".utf8) }
        return bytes
    }

    private static let ownFields: Set = ["content-length", "transfer-encoding", "connection"]

    private static func isOneLine(_ name: String, _ value: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy(ByteClasses.isToken) && value.utf8.allSatisfy(ByteClasses.isFieldContent)
    }

    private static func phrase(_ status: Int) -> String {
        phrases[status] ?? "Status"
    }

    private static let phrases = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently",
        302: "Found",
        304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
        401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
        409: "Conflict", 410: "Gone", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
        428: "Precondition Required",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
        507: "Insufficient Storage", 505: "HTTP Version Not Supported",
    ]
}

extension EmulatorResponse {
    /// What every answer of a server says in its field `Date`.
    package static var dateOfNow: String { Timestamp.httpText(milliseconds: Int64(time(nil)) * 1_000) }
}
