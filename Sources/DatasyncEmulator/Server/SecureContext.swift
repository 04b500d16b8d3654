import CLibSSL
import Foundation

/// What all TLS connections of a server have in common: certificate, key and versions.
///
/// Sendable because nothing of it changes after its initializer, and making connections from one `SSL_CTX` in several
/// threads is what the library counts its references for (`SSL_CTX_new(3)`, `openssl-threads(7)`).
@safe final class SecureContext: @unchecked Sendable {
    /// `SSL_OP_NO_TICKET`, a macro that Swift does not see; it is for TLS 1.2.
    private static let noTickets = UInt64(1) << 14

    let handle: OpaquePointer

    init(_ certificate: ServerCertificate) throws {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let handle = unsafe SSL_CTX_new(TLS_server_method()) else {
            throw EmulatorError(code: .invalidCertificate, message: "TLS is not available", cause: SecureFailure())
        }
        unsafe self.handle = handle
        setUp(certificate)
        // Called for a key with a passphrase; without it, the library would ask on the terminal.
        unsafe SSL_CTX_set_default_passwd_cb(handle) { _, _, _, _ in -1 }
        guard unsafe SSL_CTX_use_certificate_chain_file(handle, certificate.certificate.path) == 1 else {
            throw Self.error("\(certificate.certificate.path) is not a readable file with a certificate in PEM")
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(handle, certificate.key.path, SSL_FILETYPE_PEM) == 1,
            unsafe SSL_CTX_check_private_key(handle) == 1
        else {
            let rest = "in PEM and without a passphrase, that belongs to the certificate"
            throw Self.error("\(certificate.key.path) is not a readable file with a private key, \(rest)")
        }
    }

    deinit { unsafe SSL_CTX_free(handle) }

    private func setUp(_ certificate: ServerCertificate) {
        unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_MIN_PROTO_VERSION, certificate.versions.lowerBound.rawValue, nil)
        unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_MAX_PROTO_VERSION, certificate.versions.upperBound.rawValue, nil)
        // The versions before 1.2 sign with SHA-1, which only level 0 allows.
        if certificate.versions.lowerBound < .v1_2 { unsafe SSL_CTX_set_security_level(handle, 0) }
        // Every connection is a new one: what a server remembers of clients would only make trials depend on another.
        unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        unsafe SSL_CTX_set_options(handle, Self.noTickets)
        unsafe SSL_CTX_set_num_tickets(handle, 0)
        if certificate.demandsClientCertificate {
            unsafe SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        }
    }

    private static func error(_ message: String) -> EmulatorError {
        EmulatorError(code: .invalidCertificate, message: message, cause: SecureFailure())
    }
}

/// What the TLS library noted about its last failure in this thread.
struct SecureFailure: Error, CustomStringConvertible {
    let description: String

    /// Takes the notes out of the library's queue.
    init() {
        var notes: [String] = []
        while case let code = ERR_get_error(), code != 0 {
            var text = [CChar](repeating: 0, count: 256)
            unsafe ERR_error_string_n(code, &text, text.count)
            notes.append(String(zeroTerminated: text))
        }
        description = notes.isEmpty ? "no reason given" : notes.joined(separator: "; ")
    }
}
