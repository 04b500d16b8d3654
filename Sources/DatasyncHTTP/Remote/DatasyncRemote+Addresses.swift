internal import Foundation
public import HTTPTransport
public import RemoteContract

extension SyncRemote where Self == DatasyncRemote {
    /// A Datasync service, protocol 3: `.datasync("https://…") { try await account.token() }`.
    ///
    /// - Parameters:
    ///   - address: Scheme, host and path of the service, above the table endpoint.
    ///   - options: Settings with defaults.
    ///   - transport: What carries requests; one that all remotes share unless another is given.
    ///   - token: Gives the token of whoever is signed in; without a provider the service is asked anonymously.
    /// - Returns: The remote; nothing is sent yet.
    /// - Throws: As ``DatasyncRemote/init(baseURL:dialect:options:transport:token:)``.
    public static func datasync(
        _ address: String,
        options: DatasyncOptions = DatasyncOptions(),
        transport: any ClientTransport = .shared,
        token: DatasyncRemote.TokenProvider? = nil
    ) throws(RemoteError) -> DatasyncRemote {
        try remote(address, .datasync, options, transport, token)
    }

    /// An Azure Mobile Apps service, protocol 2. Otherwise as ``datasync(_:options:transport:token:)``.
    public static func azureMobileApps(
        _ address: String,
        options: DatasyncOptions = DatasyncOptions(),
        transport: any ClientTransport = .shared,
        token: DatasyncRemote.TokenProvider? = nil
    ) throws(RemoteError) -> DatasyncRemote {
        try remote(address, .azureMobileApps, options, transport, token)
    }

    private static func remote(
        _ address: String,
        _ dialect: DatasyncDialect,
        _ options: DatasyncOptions,
        _ transport: any ClientTransport,
        _ token: DatasyncRemote.TokenProvider?
    ) throws(RemoteError) -> DatasyncRemote {
        guard let url = URL(string: address) else {
            throw .invalidAddress("The address of the service is not of the form https://host/path.")
        }
        guard let token else {
            return try DatasyncRemote(baseURL: url, dialect: dialect, options: options, transport: transport)
        }
        return try DatasyncRemote(
            baseURL: url,
            dialect: dialect,
            options: options,
            transport: transport,
            token: token
        )
    }
}
