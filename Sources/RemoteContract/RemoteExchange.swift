/// A request and what was answered, as they went over the wire: for support.
///
/// Bodies are rows; those of custom APIs are left out. So an exchange stays where rows may be: in memory, and in the local store
/// beside the error of its change, with which it leaves. It is never part of a message or of a log line: ``description`` names
/// the method, the path without its query, and the status; only ``text`` has everything.
///
/// Secrets are not in it. A header field has its value here only when it is known to be harmless, and what the others
/// of the request held is left out of the answer as well.
public struct RemoteExchange: Sendable, Hashable {
    /// A header field.
    public struct Field: Sendable, Hashable {
        /// The name, as it was sent.
        public let name: String

        /// The value; nil when it was left out.
        public let value: String?

        package init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// How many bytes of a body are kept.
    public static let maximumBodySize = 8_192

    /// The method: `PUT`.
    public let method: String

    /// The path with its query.
    public let path: String

    /// The header fields of the request.
    public let requestFields: [Field]

    /// The body of the request; nil when it had none. A long one is cut, and says so at its end.
    public let requestBody: String?

    /// The status of the answer; nil when there was none.
    public let status: Int?

    /// The header fields of the answer.
    public let answerFields: [Field]

    /// The body of the answer; nil when it had none. A long one is cut, and says so at its end.
    public let answerBody: String?
}

extension RemoteExchange {
    /// Describes an exchange, without its secrets.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path with its query.
    ///   - requestFields: The header fields of the request, all of them: what the secret ones hold is left out of the answer.
    ///   - requestBody: The body of the request.
    ///   - status: The status of the answer; nil when there was none.
    ///   - answerFields: The header fields of the answer.
    ///   - answerBody: The body of the answer.
    ///   - secrets: What else must not be in it, such as a key in the query.
    public init(
        method: String,
        path: String,
        requestFields: [(name: String, value: String)] = [],
        requestBody: [UInt8]? = nil,
        status: Int? = nil,
        answerFields: [(name: String, value: String)] = [],
        answerBody: [UInt8]? = nil,
        secrets: [String] = []
    ) {
        let told = SecretRedaction(secrets)
        let cookies = answerFields.filter { $0.name.lowercased() == "set-cookie" }.map(\.value)
        let repeated = Self.redaction(of: requestFields, secrets + cookies)
        self.method = method
        self.path = told.text(Array(path.utf8), atMost: Self.maximumBodySize)
        self.requestFields = Self.fields(requestFields, told)
        self.requestBody = Self.body(requestBody, told)
        self.status = status
        self.answerFields = Self.fields(answerFields, repeated)
        self.answerBody = Self.body(answerBody, repeated)
    }

    private static func fields(_ fields: [(name: String, value: String)], _ redaction: SecretRedaction) -> [Field] {
        fields.prefix(64)
            .map { field in
                let value = redaction.text(Array(field.value.utf8), atMost: 1_024)
                return Field(name: field.name, value: isHarmless(field.name) ? value : nil)
            }
    }

    private static func body(_ body: [UInt8]?, _ redaction: SecretRedaction) -> String? {
        guard let body, !body.isEmpty else { return nil }
        return redaction.text(body, atMost: maximumBodySize)
    }

    /// The same exchange, of which nothing is told that was in the bodies.
    package var withoutBodies: RemoteExchange {
        RemoteExchange(
            stored: method,
            path: path,
            requestFields: requestFields,
            requestBody: requestBody.map { _ in "(left out)" },
            status: status,
            answerFields: answerFields,
            answerBody: answerBody.map { _ in "(left out)" }
        )
    }

    /// An exchange that was described before.
    package init(
        stored method: String,
        path: String,
        requestFields: [Field],
        requestBody: String?,
        status: Int?,
        answerFields: [Field],
        answerBody: String?
    ) {
        self.method = method
        self.path = path
        self.requestFields = requestFields
        self.requestBody = requestBody
        self.status = status
        self.answerFields = answerFields
        self.answerBody = answerBody
    }

    /// Leaves out what header fields of a request hold that may be secret, where it is repeated.
    package static func redaction(of fields: [(name: String, value: String)], _ secrets: [String]) -> SecretRedaction {
        SecretRedaction(secrets + fields.filter { !isHarmless($0.name) }.map(\.value))
    }

    /// Fields in which no secret travels. Of every other one it is not known.
    private static func isHarmless(_ name: String) -> Bool { harmlessNames.contains(name.lowercased()) }

    private static let harmlessNames: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "allow", "cache-control",
        "content-encoding", "content-length", "content-range", "content-type", "date", "etag",
        "expires", "host", "if-match", "if-modified-since", "if-none-match", "if-unmodified-since", "last-modified",
        "odata-version", "prefer", "preference-applied", "range", "request-id", "retry-after", "server", "traceparent",
        "upload-complete", "upload-length", "upload-offset", "user-agent", "vary", "via", "www-authenticate",
        "x-correlation-id", "x-ms-request-id", "x-request-id", "x-zumo-version", "zumo-api-version",
    ]
}

extension RemoteExchange: CustomStringConvertible {
    /// Method, path without its query, and status; never a row.
    public var description: String { "\(method) \(barePath): " + (status.map { "HTTP \($0)" } ?? "no answer") }

    /// The path without its query.
    public var barePath: String { String(path.prefix { $0 != "?" }) }

    /// Everything: the request, an empty line, and the answer. It has rows in it, so it belongs into no log.
    public var text: String {
        func part(_ line: String, _ fields: [Field], _ body: String?) -> String {
            ([line] + fields.map { "\($0.name): \($0.value ?? SecretRedaction.mark)" }).joined(separator: "\n")
                + (body.map { "\n\n" + $0 } ?? "")
        }
        return part("\(method) \(path)", requestFields, requestBody) + "\n\n"
            + part(status.map { "HTTP \($0)" } ?? "no answer", answerFields, answerBody)
    }
}
