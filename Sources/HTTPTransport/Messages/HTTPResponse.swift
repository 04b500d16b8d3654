/// A complete answer, whatever its status.
public struct HTTPResponse: Sendable, Hashable {
    /// An answer's status.
    public struct Status: Sendable, Hashable, CustomStringConvertible {
        /// The number, 100 to 999.
        public let code: Int

        /// A status.
        ///
        /// - Precondition: The number is 100 to 999.
        public init(code: Int) {
            precondition((100...999).contains(code), "a status has three digits and does not begin with 0")
            self.code = code
        }

        /// The number as text.
        public var description: String { String(code) }

        /// 200
        public static let ok = Status(code: 200)
    }

    /// The status.
    public var status: Status

    /// The header fields as they were sent. `Content-Encoding` and `Content-Length` tell how the body travelled, which
    /// ``body`` does not show any more.
    public var headerFields: HTTPFields

    /// The body; empty when there is none. It is decompressed, unless the request named an `Accept-Encoding` of its own.
    ///
    /// libcurl 7.88 does not notice a compressed body whose compression breaks off within the promised length.
    public var body: [UInt8]

    /// An answer.
    public init(status: Status, headerFields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
    }
}
