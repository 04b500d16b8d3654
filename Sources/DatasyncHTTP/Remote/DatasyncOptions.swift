/// Settings of a ``DatasyncRemote`` that have a sensible default.
public struct DatasyncOptions: Sendable {
    /// The path between the base address and the table's name; segments are separated by slashes, and it may be empty.
    public var tableEndpoint = "tables"

    /// The server's names of tables that are called differently there; a table that is not listed keeps its name.
    ///
    /// A name may have several segments separated by slashes.
    public var tableNames: [String: String] = [:]

    /// The longest time one request may take, from sending to the last byte of the answer.
    public var requestTimeout: Duration = .seconds(60)

    /// Whether plain HTTP to another machine is allowed. Rows and tokens then travel readable for anyone on the way.
    public var allowsInsecureHTTP = false

    /// Identifies this installation of the app to the server, as `X-ZUMO-INSTALLATION-ID`; nil sends nothing.
    public var installationID: String?

    /// Creates the defaults.
    public init() {}
}
