internal import Foundation
internal import SealedSync

/// A server that a person named, after its address was checked.
struct ServerAddress {
    let url: URL
    let dialect: DatasyncDialect
    let remote: DatasyncRemote

    /// Checks an address that a person wrote; `advice` says what to do to allow plain HTTP to another machine.
    ///
    /// - Throws: ``ToolError`` or `RemoteError` with code `invalidAddress`, before anything is sent.
    init(
        _ address: String,
        protocolNumber: Int,
        allowsInsecureHTTP: Bool,
        timeout: Int,
        certificateFile: String?,
        allowing advice: String
    ) throws {
        guard let url = URL(string: address), let dialect = DatasyncDialect(rawValue: protocolNumber) else {
            throw ToolError(
                "invalidAddress",
                "'\(address)' is not the address of a server; give one such as https://example.org"
            )
        }
        var options = DatasyncOptions()
        options.allowsInsecureHTTP = allowsInsecureHTTP
        options.requestTimeout = .seconds(timeout)
        var transport = TransportOptions()
        transport.additionalCertificateFile = certificateFile
        do throws(RemoteError) {
            remote = try DatasyncRemote(
                baseURL: url,
                dialect: dialect,
                options: options,
                transport: DefaultTransport(transport)
            )
        } catch {
            guard error.code == .invalidAddress, url.scheme?.lowercased() == "http", url.host != nil else {
                throw error
            }
            throw ToolError(
                "invalidAddress",
                "anyone on the way to \(address) could read and change what is sent; use https, or \(advice) for a"
                    + " network you trust"
            )
        }
        self.url = url
        self.dialect = dialect
    }
}
