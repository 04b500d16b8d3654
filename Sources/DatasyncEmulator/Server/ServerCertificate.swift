public import Foundation

/// The files that a server shows and proves who it is with, in PEM.
public struct ServerCertificate: Sendable {
    /// The server's certificate, and after it those between it and the authority its clients know.
    public var certificate: URL
    /// The private key that belongs to the certificate, without a passphrase.
    public var key: URL

    /// The versions of TLS that are spoken; other than these only for tests of clients.
    package var versions = TLSVersion.v1_2...TLSVersion.v1_3
    /// Whether clients are asked for a certificate; as the server knows no authority, none satisfies it.
    package var demandsClientCertificate = false

    /// Names the files; they are read whenever a server starts.
    public init(certificate: URL, key: URL) {
        self.certificate = certificate
        self.key = key
    }
}

/// A version of TLS.
package enum TLSVersion: Int, Sendable, Comparable {
    case v1_0 = 0x0301
    case v1_1
    case v1_2
    case v1_3

    package static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
}
