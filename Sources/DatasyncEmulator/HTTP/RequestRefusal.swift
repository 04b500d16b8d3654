/// Why bytes are not taken as a request. The connection is of no use afterwards: nobody knows where the next one begins.
struct RequestRefusal: Error, Equatable {
    /// The status to answer: 400, 408, 413, 414, 417, 431, 501 or 505.
    let status: Int
    /// What is wrong, for people. Says nothing of the request's content.
    let reason: String

    static func malformed(_ reason: String) -> RequestRefusal {
        RequestRefusal(status: 400, reason: reason)
    }

    static let bodyTooLarge = RequestRefusal(status: 413, reason: "the body is too large")
    static let targetTooLong = RequestRefusal(status: 414, reason: "the request line is too long")
    static let fieldsTooLarge = RequestRefusal(status: 431, reason: "the header fields are too large")
    static let tooSlow = RequestRefusal(status: 408, reason: "the request did not arrive in time")
}

/// How large the parts of a request may be, in bytes.
struct RequestLimits: Sendable {
    /// The default for the request line: ASP.NET Core's, as is the fields'.
    static let requestLine = 8_192

    /// The request line with its line break.
    var requestLine = Self.requestLine
    /// All header fields with their line breaks; as much again for what follows a chunked body.
    var fields = 32_768
    /// The body without what chunks add to it.
    var body: Int
}
