/// A request, as a value: nothing of it is checked before it is sent but the method.
public struct HTTPRequest: Sendable, Hashable {
    /// The method.
    public var method: Method

    /// `http` or `https`.
    public var scheme: String?

    /// Host and port, such as `example.org:8443` or `[::1]:80`: in ASCII, and without credentials.
    public var authority: String?

    /// Path and query, percent-encoded, such as `/tables/todo?$top=1`. It is sent as it stands, dot segments included.
    public var path: String?

    /// The header fields, sent in their order. Those that frame a message (`Host`, `Content-Length`,
    /// `Transfer-Encoding`, `Connection`, `Expect`) are the transport's own: naming one is an error.
    public var headerFields: HTTPFields

    /// The body; nil sends none.
    public var body: [UInt8]?

    /// The longest time from the call to the last byte of the answer; nil takes the transport's.
    public var timeout: Duration?

    /// A request.
    public init(
        method: Method,
        scheme: String?,
        authority: String?,
        path: String?,
        headerFields: HTTPFields = [:],
        body: [UInt8]? = nil,
        timeout: Duration? = nil
    ) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.headerFields = headerFields
        self.body = body
        self.timeout = timeout
    }

    /// A method, in the case it is given: methods are told apart by it (RFC 9110, section 9.1).
    public struct Method: Sendable, Hashable, CustomStringConvertible {
        /// The method as it is sent.
        public let rawValue: String

        /// A method; nil when the text is empty or has a character that no method may have.
        public init?(_ rawValue: String) {
            guard HTTPToken.isValid(rawValue) else { return nil }
            self.init(checked: rawValue)
        }

        private init(checked rawValue: String) { self.rawValue = rawValue }

        /// The method as it is sent.
        public var description: String { rawValue }

        /// `GET`
        public static let get = Method(checked: "GET")
        /// `HEAD`
        public static let head = Method(checked: "HEAD")
        /// `POST`
        public static let post = Method(checked: "POST")
        /// `PUT`
        public static let put = Method(checked: "PUT")
        /// `PATCH`
        public static let patch = Method(checked: "PATCH")
        /// `DELETE`
        public static let delete = Method(checked: "DELETE")
        /// `OPTIONS`
        public static let options = Method(checked: "OPTIONS")

        /// Whether the method only reads, so that sending it twice does no harm (RFC 9110, section 9.2.1).
        public var isSafe: Bool { [.get, .head, .options].contains(self) }
    }
}
