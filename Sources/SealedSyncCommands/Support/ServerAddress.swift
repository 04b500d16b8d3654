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
                "'\(Self.withoutCredentials(address))' is not the address of a server; give one such as"
                    + " https://example.org."
            )
        }
        var options = DatasyncOptions()
        options.allowsInsecureHTTP = allowsInsecureHTTP
        options.requestTimeout = .seconds(timeout)
        var transport = TransportOptions()
        transport.additionalCertificateFile = certificateFile
        func remote(_ options: DatasyncOptions) throws(RemoteError) -> DatasyncRemote {
            try DatasyncRemote(
                baseURL: url,
                dialect: dialect,
                options: options,
                transport: DefaultTransport(transport)
            )
        }
        do throws(RemoteError) {
            self.remote = try remote(options)
        } catch {
            options.allowsInsecureHTTP = true
            // What is wrong with plain HTTP as well is told as what it is.
            _ = try remote(options)
            throw ToolError(
                "invalidAddress",
                "Anyone on the way to \(address) could read and change what is sent; use https, or \(advice) for a"
                    + " network you trust."
            )
        }
        self.url = url
        self.dialect = dialect
    }

    /// An address as it may be shown: what stands in front of the host may be a password.
    private static func withoutCredentials(_ address: String) -> String {
        guard let at = address.lastIndex(of: "@") else { return address }
        let start = address.firstRange(of: "://")?.upperBound ?? address.startIndex
        return address[..<min(start, at)] + "…" + address[at...]
    }
}
