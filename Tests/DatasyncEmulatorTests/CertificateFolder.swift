import Foundation

@testable import DatasyncEmulator

/// Certificates made for a test with the `openssl` program, in a folder that goes away with this.
final class CertificateFolder: Sendable {
    struct ProgramFailure: Error {
        var arguments: [String]
        var errors: String
    }

    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "sealedsync-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // What cannot be removed lies in a folder that the system empties.
        try? FileManager.default.removeItem(at: url)
    }

    func file(_ name: String) -> URL { url.appending(path: name) }

    /// Makes a certificate that signs itself, for 127.0.0.1.
    func makeSelfSigned(_ name: String) async throws -> ServerCertificate {
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try await openSSL(
            ["req", "-x509"] + key
                + ["-keyout", "\(name).key", "-out", "\(name).pem", "-days", "2", "-subj", "/CN=\(name)"]
                + ["-addext", "subjectAltName=IP:127.0.0.1"]
        )
        return ServerCertificate(certificate: file("\(name).pem"), key: file("\(name).key"))
    }

    /// Makes a certificate of an authority that another one, `root.pem`, vouches for; the file has both, its own first.
    func makeChain() async throws -> ServerCertificate {
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

    func openSSL(_ arguments: [String]) async throws {
        let result = try await run(arguments, input: "")
        guard result.status == 0 else { throw ProgramFailure(arguments: arguments, errors: result.errors) }
    }

    /// Sends a request over TLS with `openssl s_client`, which trusts a file of this folder, and returns what it got.
    func ask(
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
        try await onThread { [url] in
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["openssl"] + arguments
            process.currentDirectoryURL = url
            let stdout = Pipe()
            // From a file: writing to a program that has ended already would be a signal that ends this process.
            let (requests, errors) = (url.appending(path: UUID().uuidString), url.appending(path: UUID().uuidString))
            try Data(input.utf8).write(to: requests)
            try Data().write(to: errors)
            let handles = [try FileHandle(forReadingFrom: requests), try FileHandle(forWritingTo: errors)]
            defer { for handle in handles { try? handle.close() } }
            process.standardInput = handles[0]
            process.standardOutput = stdout
            process.standardError = handles[1]
            try process.run()
            let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return (process.terminationStatus, output, String(decoding: try Data(contentsOf: errors), as: UTF8.self))
        }
    }
}
