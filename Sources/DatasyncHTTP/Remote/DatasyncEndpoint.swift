internal import Foundation
internal import HTTPTransport
internal import RemoteContract

/// Where tables are found: turns what a protocol wants to say into an HTTP request.
struct DatasyncEndpoint: Sendable {
    let scheme: String
    /// Host and port as they stand in the address.
    let authority: String
    private let basePath: String
    private let tablesPath: String
    private let apiPath: String
    private let tableNames: [String: String]
    private let installationID: String?
    private let headerFields: HTTPFields
    private let maximumRequestLine: Int

    init(_ url: URL, options: DatasyncOptions) throws(RemoteError) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(), let host = parts.encodedHost, !host.isEmpty,
            scheme == "https" || scheme == "http"
        else { throw .invalidAddress("The address of the service is not of the form https://host/path.") }
        guard parts.port.map({ (1...65_535).contains($0) }) ?? true else {
            throw .invalidAddress("The port in the address of the service is none; ports are 1 to 65535.")
        }
        guard parts.user == nil, parts.password == nil else {
            throw .invalidAddress(
                "The address of the service has a user name or a password in front of the host; leave them out, and"
                    + " pass credentials as authentication."
            )
        }
        for (part, mark) in [(parts.query, "a query, which begins with '?'"), (parts.fragment, "a fragment, '#'")]
        where part != nil {
            throw .invalidAddress("The address of the service has \(mark); give only scheme, host and path.")
        }
        guard scheme == "https" || Self.isLoopback(host) || options.allowsInsecureHTTP else {
            throw .invalidAddress(
                "The address of the service is plain HTTP to \(host), which is not this machine, and anyone on the way could"
                    + " read what is sent; use https, or set allowsInsecureHTTP for a trusted network."
            )
        }
        self.scheme = scheme
        authority = host.lowercased() + (parts.port.map { ":\($0)" } ?? "")
        basePath = try Self.path(parts.percentEncodedPath) { $0 }
        tablesPath = try basePath + Self.path(options.tableEndpoint, encodedBy: PercentEncoding.value)
        apiPath = try basePath + Self.path(options.apiEndpoint, encodedBy: PercentEncoding.value)
        var names: [String: String] = [:]
        for (name, remoteName) in options.tableNames {
            names[name] = try Self.path(remoteName, encodedBy: PercentEncoding.value)
        }
        tableNames = names
        installationID = options.installationID
        headerFields = try options.checkedHeaderFields()
        maximumRequestLine = options.maximumRequestLine
        guard installationID.map(HTTPField.isValidValue) ?? true else {
            throw .invalidRequest("The installation id has characters that a header field cannot carry.")
        }
    }

    /// The address of a request's table, for messages.
    func address(of request: WireRequest) -> String {
        "\(scheme)://\(authority)" + path(of: request.table)
    }

    private func path(of table: String) -> String {
        tablesPath + (tableNames[table] ?? "/" + PercentEncoding.value(table))
    }

    /// The HTTP request for a protocol's request, without authentication.
    func httpRequest(_ request: WireRequest, version: String) throws(RemoteError) -> HTTPRequest {
        var path = path(of: request.table)
        if let id = request.id {
            // Percent-encoding does not help here: %2E counts as a dot, and is removed on the way.
            guard !["", ".", ".."].contains(id) else {
                throw .invalidRequest(
                    "An id of table '\(request.table)' is empty or only dots, which no address can name."
                )
            }
            path += "/" + PercentEncoding.value(id)
        }
        if !request.query.isEmpty { path += "?" + request.query.text }
        let lineSize = request.method.rawValue.utf8.count + path.utf8.count + "  HTTP/1.1\r\n".utf8.count
        guard lineSize <= maximumRequestLine else {
            throw .invalidRequest(
                "A request for table '\(request.table)' has a first line of \(lineSize) bytes with its query;"
                    + " \(maximumRequestLine) are the most. Filter by less, or in several queries with fewer values each."
            )
        }
        var http = httpRequest(request.method, path, version: version)
        if request.method == .post || request.body != nil { http.headerFields[.contentType] = "application/json" }
        if let version = request.ifMatch, !version.isEmpty {
            http.headerFields[.ifMatch] = try EntityTag.quoted(version, table: request.table)
        }
        return http
    }

    /// The HTTP request for a call of a custom API, without authentication.
    func httpRequest(_ call: APICall, version: String) throws(RemoteError) -> HTTPRequest {
        let segments = call.name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard segments.allSatisfy({ !["", ".", ".."].contains($0) }) else {
            throw .invalidRequest("The name of a custom API is empty, or has an empty segment or one of dots only.")
        }
        guard let method = HTTPRequest.Method(call.method.rawValue), call.method != .get || call.body == nil else {
            throw .invalidRequest("API '\(call.name)' is asked by GET, which sends no body; use parameters, or POST.")
        }
        var path = apiPath + segments.map { "/" + PercentEncoding.value($0) }.joined()
        var query = QueryText()
        for (name, value) in call.parameters.sorted(by: { $0.key < $1.key }) {
            query.add(PercentEncoding.value(name), value)
        }
        if !query.isEmpty { path += "?" + query.text }
        var http = httpRequest(method, path, version: version)
        http.body = call.body
        if call.body != nil { http.headerFields[.contentType] = "application/json" }
        return http
    }

    /// The path of attachments, which is given below the base address.
    func attachmentsPath(_ path: String) throws(RemoteError) -> String {
        try basePath + Self.path(path, encodedBy: PercentEncoding.value)
    }

    /// The HTTP request for a whole path, without authentication.
    func httpRequest(_ method: HTTPRequest.Method, _ path: String, version: String) -> HTTPRequest {
        var fields = HTTPFields()
        // Those of one request: with the content's type, the version and the token.
        fields.reserveCapacity(headerFields.count + 8)
        fields.append(HTTPField(name: .zumoVersion, value: version))
        fields.append(HTTPField(name: .accept, value: "application/json"))
        fields.append(HTTPField(name: .userAgent, value: "SealedSync"))
        if let installationID { fields.append(HTTPField(name: .zumoInstallationID, value: installationID)) }
        for field in headerFields { fields[field.name] = field.value }
        return HTTPRequest(
            method: method,
            scheme: scheme,
            authority: authority,
            path: path,
            headerFields: fields
        )
    }

    /// `/a/b` of `a/b`, `/a/b` and `/a/b/`; nothing of an empty text.
    private static func path(
        _ text: String,
        encodedBy encode: (String) -> String
    ) throws(RemoteError) -> String {
        let segments = text.split(separator: "/").map(String.init)
        guard !segments.contains("."), !segments.contains("..") else {
            throw .invalidAddress("The address of the service has '.' or '..' as a path segment; write the path out.")
        }
        return segments.map { "/" + encode($0) }.joined()
    }

    /// Whether a host is this machine by its very name: no look-up, because a name can resolve to anything.
    static func isLoopback(_ host: String) -> Bool {
        if ["localhost", "[::1]", "::1"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { (1...3).contains($0.utf8.count) && UInt8($0, radix: 10) != nil }
    }
}

extension RemoteError {
    static func invalidAddress(_ message: String) -> RemoteError { RemoteError(.invalidAddress, message) }
    static func invalidRequest(_ message: String) -> RemoteError { RemoteError(.invalidRequest, message) }
}
