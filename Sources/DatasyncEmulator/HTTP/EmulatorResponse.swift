public import Foundation

/// One HTTP answer, as the emulator's core gives it.
///
/// `Content-Length`, `Transfer-Encoding` and `Connection` are left to the server, which ignores those that are here.
public struct EmulatorResponse: Sendable {
    /// The status code.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaderFields
    /// The body; empty when there is none.
    public var body: Data
    /// What of a file is the body instead.
    package var file: File?
    /// Whether a server sends the body in chunks, as ASP.NET does, instead of saying its length.
    var isChunked = false
    /// How a server hands the answer over: other than whole where a fault says so.
    var delivery = Delivery.whole

    /// A part of a file.
    package struct File: Sendable {
        let part: FilePart
        /// The first byte.
        let start: Int64
        package let count: Int64

        /// Bytes of the part from an offset in it on, at most so many; none at its end.
        package func read(at offset: Int64, atMost limit: Int) throws -> [UInt8] {
            try part.read(at: start + offset, count: Int(min(Int64(limit), count - offset)))
        }
    }

    /// How many bytes the body has.
    var bodyCount: Int { file.map { Int($0.count) } ?? body.count }

    /// Makes an answer.
    public init(_ status: Int, headers: HTTPHeaderFields = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer whose body is a JSON value.
    public static func json(_ status: Int, _ value: JSONValue) -> EmulatorResponse {
        let headers: HTTPHeaderFields = ["Content-Type": "application/json; charset=utf-8"]
        return EmulatorResponse(status, headers: headers, body: value.encoded)
    }

    /// An answer whose body is an HTML page, as a gateway in front of a server would send it.
    public static func html(_ status: Int, _ page: String) -> EmulatorResponse {
        EmulatorResponse(status, headers: ["Content-Type": "text/html; charset=utf-8"], body: Data(page.utf8))
    }
}
