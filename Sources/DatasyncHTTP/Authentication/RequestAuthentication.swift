public import HTTPTransport

/// Supplies what proves to the server who is asking. What it returns is sent and never kept, logged or put in an error.
public protocol RequestAuthentication: Sendable {
    /// The header field for one request; nil sends the request without one.
    ///
    /// Called before every request, so that a token can be renewed when it runs out. An error thrown here ends the
    /// request before anything is sent: as ``/RemoteContract/RemoteError/Code/unauthorized``, or as
    /// ``/RemoteContract/RemoteError/Code/unreachable`` or ``/RemoteContract/RemoteError/Code/throttled`` where it is a
    /// `RemoteError` that says that a service cannot be reached, is out of order or wants fewer requests. A
    /// `CancellationError` is passed on.
    func headerField() async throws -> HTTPField?
}

/// A token in a header field, asked for anew for every request.
public struct TokenAuthentication: RequestAuthentication {
    private let name: HTTPField.Name
    private let prefix: String
    private let token: @Sendable () async throws -> String?

    /// Sends what the closure returns as the value of the given field; nil sends nothing.
    public init(field name: HTTPField.Name, token: @escaping @Sendable () async throws -> String?) {
        self.init(name: name, prefix: "", token: token)
    }

    private init(name: HTTPField.Name, prefix: String, token: @escaping @Sendable () async throws -> String?) {
        self.name = name
        self.prefix = prefix
        self.token = token
    }

    /// `Authorization: Bearer …`
    public static func bearer(_ token: @escaping @Sendable () async throws -> String?) -> TokenAuthentication {
        TokenAuthentication(name: .authorization, prefix: "Bearer ", token: token)
    }

    /// `X-ZUMO-AUTH: …`, the token that Azure Mobile Apps gave at login.
    public static func azureMobileApps(_ token: @escaping @Sendable () async throws -> String?) -> TokenAuthentication {
        TokenAuthentication(name: .zumoAuthentication, prefix: "", token: token)
    }

    /// The field with the current token.
    public func headerField() async throws -> HTTPField? {
        guard let token = try await token() else { return nil }
        // Checked here because HTTPField turns bytes that cannot be sent into spaces, which is another token.
        guard HTTPField.isValidValue(prefix + token) else { throw InvalidToken() }
        return HTTPField(name: name, value: prefix + token)
    }

    private struct InvalidToken: Error, CustomStringConvertible {
        var description: String { "the token has characters that a header field cannot carry" }
    }
}

extension HTTPField.Name {
    static let zumoAuthentication = HTTPField.Name("X-ZUMO-AUTH")!
    static let zumoVersion = HTTPField.Name("ZUMO-API-VERSION")!
    static let zumoServerVersion = HTTPField.Name("X-ZUMO-SERVER-VERSION")!
    static let zumoInstallationID = HTTPField.Name("X-ZUMO-INSTALLATION-ID")!
}
