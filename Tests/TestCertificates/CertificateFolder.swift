internal import ChildProcesses
package import DatasyncEmulator
package import Foundation

/// Certificates made for a test with the `openssl` program, in a folder that goes away with this.
package final class CertificateFolder: Sendable {
    package struct ProgramFailure: Error {
        package var arguments: [String]
        package var errors: String
    }

    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "sealedsync-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // What cannot be removed lies in a folder that the system empties.
        try? FileManager.default.removeItem(at: url)
    }

    package func file(_ name: String) -> URL { url.appending(path: name) }

    /// Makes a certificate that signs itself, for 127.0.0.1.
    package func makeSelfSigned(_ name: String) async throws -> ServerCertificate {
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try await openSSL(
            ["req", "-x509"] + key
                + ["-keyout", "\(name).key", "-out", "\(name).pem", "-days", "2", "-subj", "/CN=\(name)"]
                + ["-addext", "subjectAltName=IP:127.0.0.1"]
        )
        return ServerCertificate(certificate: file("\(name).pem"), key: file("\(name).key"))
    }

    /// Makes a certificate of an authority that another one, `root.pem`, vouches for; the file has both, its own first.
    package func makeChain() async throws -> ServerCertificate {
        _ = try await makeSelfSigned("root")
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        for (name, issuer, extensions) in [
            ("middle", "root", "basicConstraints=critical,CA:TRUE"), ("leaf", "middle", "subjectAltName=IP:127.0.0.1"),
        ] {
            try Data(extensions.utf8).write(to: file("\(name).extensions"))
            try await openSSL(
                ["req"] + key + ["-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(name)"]
            )
            try await openSSL(
                ["x509", "-req", "-in", "\(name).csr", "-CA", "\(issuer).pem", "-CAkey", "\(issuer).key", "-days", "2"]
                    + ["-CAcreateserial", "-extfile", "\(name).extensions", "-out", "\(name).pem"]
            )
        }
        let chain = try Data(contentsOf: file("leaf.pem")) + Data(contentsOf: file("middle.pem"))
        try chain.write(to: file("chain.pem"))
        return ServerCertificate(certificate: file("chain.pem"), key: file("leaf.key"))
    }

    /// Makes a certificate that another one of this folder signs.
    ///
    /// - Parameters:
    ///   - name: What its files are called.
    ///   - issuer: The name of the one that signs it.
    ///   - names: The hosts it is for, such as `DNS:localhost` or `IP:127.0.0.1`.
    ///   - days: How long it is valid; with a negative number it is valid no more.
    /// - Returns: The files of certificate and key.
    /// - Throws: What the program said, when it failed.
    package func makeSigned(
        _ name: String,
        by issuer: String,
        for names: String = "IP:127.0.0.1",
        days: Int = 2
    ) async throws -> ServerCertificate {
        try Data("subjectAltName=\(names)".utf8).write(to: file("\(name).extensions"))
        try await openSSL(
            ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "\(name).key"]
                + ["-out", "\(name).csr", "-subj", "/CN=\(name)"]
        )
        try await openSSL(
            ["x509", "-req", "-in", "\(name).csr", "-CA", "\(issuer).pem", "-CAkey", "\(issuer).key"]
                + ["-CAcreateserial", "-days", "\(days)", "-extfile", "\(name).extensions", "-out", "\(name).pem"]
        )
        return ServerCertificate(certificate: file("\(name).pem"), key: file("\(name).key"))
    }

    package func openSSL(_ arguments: [String]) async throws {
        let result = try await run(arguments, input: "")
        guard result.status == 0 else { throw ProgramFailure(arguments: arguments, errors: result.errors) }
    }

    /// Sends a request over TLS with `openssl s_client`, which trusts a file of this folder, and returns what it got.
    package func ask(
        _ url: URL,
        trusting authority: String,
        _ request: String,
        options: [String] = []
    ) async throws -> (status: Int32, output: Data, errors: String) {
        let connect = ["s_client", "-connect", "127.0.0.1:\(url.port ?? 0)", "-quiet"]
        return try await run(connect + ["-CAfile", authority, "-verify_return_error"] + options, input: request)
    }

    /// Runs the program in this folder.
    private func run(
        _ arguments: [String],
        input: String
    ) async throws -> (status: Int32, output: Data, errors: String) {
        let result = try await ChildProcess.run(.named("openssl", arguments, folder: url, input: .text(input)))
        return (result.status ?? -1, Data(result.outputBytes), result.errors)
    }
}
