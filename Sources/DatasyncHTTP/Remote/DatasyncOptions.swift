internal import HTTPTransport
internal import RemoteContract

/// Settings of a ``DatasyncRemote`` that have a sensible default.
public struct DatasyncOptions: Sendable {
    /// The path between the base address and the table's name; segments are separated by slashes, and it may be empty.
    public var tableEndpoint = "tables"

    /// The path between the base address and the name of a custom API; segments are separated by slashes, and it may be
    /// empty.
    public var apiEndpoint = "api"

    /// The server's names of tables that are called differently there; a table that is not listed keeps its name.
    ///
    /// A name may have several segments separated by slashes. A table that declares a name on the wire is looked up by that.
    public var tableNames: [String: String] = [:]

    /// The longest time one request may take, from sending to the last byte of the answer.
    public var requestTimeout: Duration = .seconds(60)

    /// How late a change may become visible behind changes that were stamped after it, for pulls to find it still.
    ///
    /// Servers stamp a row before they commit it, so that it can turn up behind rows that were read already. What was
    /// written in the last settling time is therefore asked for again by every pull. What becomes visible later than
    /// that, or is stamped by a clock that was set back by more, is found by a pull of everything only. Zero trusts stamps,
    /// and loses rows while others write.
    public var settlingTime: Duration = .seconds(10)

    /// How many parts a filter may have as servers of protocol 3 count them, those that a pull adds included. A query with
    /// more is refused before anything is sent; raise it where the server's `MaxNodeCount` is larger.
    public var maximumFilterNodes = 100

    /// How many bytes the first line of a request may have, its line break included. A longer one is refused before anything is
    /// sent. A pull with a condition that leaves no room for the ids behind which its pages go on is refused before its first page,
    /// as far as these are no longer than a UUID; longer ones end it where they stand, with an error that says so.
    public var maximumRequestLine = 8_192

    /// Whether plain HTTP to another machine is allowed. Rows and tokens then travel readable for anyone on the way.
    public var allowsInsecureHTTP = false

    /// Identifies this installation of the app to the server, as `X-ZUMO-INSTALLATION-ID`; nil sends nothing.
    public var installationID: String?

    /// The header field of the token; nil for `Authorization` in protocol 3 and `X-ZUMO-AUTH` in protocol 2.
    ///
    /// In `Authorization` the word `Bearer` stands in front of the token, any other field has the token alone.
    public var tokenField: String?

    /// Further header fields of every request, by name: for gateways that want a key of their own, say.
    ///
    /// They replace `User-Agent`. Names that mean something to the protocol or to the transport are refused.
    public var headerFields: [String: String] = [:]

    /// Creates the defaults.
    public init() {}
}

extension DatasyncOptions {
    func tokenFieldName(_ dialect: DatasyncDialect, isUsed: Bool) throws(RemoteError) -> HTTPField.Name {
        let text = tokenField ?? (dialect == .datasync ? "Authorization" : "X-ZUMO-AUTH")
        guard let name = HTTPField.Name(text), !HTTPField.Name.ofProtocol.contains(name) else {
            throw .invalidRequest("The option tokenField is no name of a header field that can carry a token.")
        }
        guard !isUsed || !headerFields.keys.contains(where: { HTTPField.Name($0) == name }) else {
            throw .invalidRequest("The header field \(name) carries the token; leave it out of headerFields.")
        }
        return name
    }

    /// The further fields in a form that can be sent.
    func checkedHeaderFields() throws(RemoteError) -> HTTPFields {
        var fields = HTTPFields()
        for (text, value) in headerFields.sorted(by: { $0.key < $1.key }) {
            guard let name = HTTPField.Name(text), HTTPField.isValidValue(value) else {
                throw .invalidRequest(
                    "A name or value in headerFields has characters that a header field cannot carry."
                )
            }
            guard !HTTPField.Name.ofProtocol.contains(name), fields[name] == nil else {
                throw .invalidRequest("The header field \(name) is the protocol's, or given twice; leave it out.")
            }
            fields[name] = value
        }
        return fields
    }
}

extension HTTPField.Name {
    /// What the protocol or the transport says itself.
    static let ofProtocol = Set<HTTPField.Name>([
        .accept, .acceptEncoding, .contentEncoding, .contentType, .ifMatch, .ifModifiedSince, .ifNoneMatch,
        .ifUnmodifiedSince, .zumoVersion, .zumoInstallationID,
    ])
    .union(HTTPRequest.framing)
}
