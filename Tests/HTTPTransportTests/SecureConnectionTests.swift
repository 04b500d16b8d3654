import DatasyncEmulator
import Foundation
import HTTPTransport
import ScriptedServer
import TestCertificates
import Testing

@Suite("Secure connections", .timeLimit(.minutes(5)))
struct SecureConnectionTests {
    private let certificates: CertificateFolder

    init() throws { certificates = try CertificateFolder() }

    /// Lends a server over TLS, and stops it whatever happens.
    private func withServer<Value>(
        _ certificate: ServerCertificate,
        _ body: (Emulator, _ authority: String) async throws -> Value
    ) async throws -> Value {
        let emulator = Emulator(EmulatorConfiguration(tables: ["todo"]))
        let server = EmulatorServer(emulator, certificate: certificate)
        let authority = "127.0.0.1:\(try await server.start().port ?? 0)"
        let result: Result<Value, any Error>
        do { result = .success(try await body(emulator, authority)) } catch { result = .failure(error) }
        await server.stop()
        return try result.get()
    }

    private func request(
        _ authority: String,
        _ method: HTTPRequest.Method = .get,
        scheme: String = "https",
        body: String? = nil
    ) -> HTTPRequest {
        HTTPRequest(
            method: method,
            scheme: scheme,
            authority: authority,
            path: "/tables/todo",
            headerFields: body == nil ? [:] : [.contentType: "application/json"],
            body: body.map { Array($0.utf8) },
            timeout: .seconds(20)
        )
    }

    private func transport(trusting name: String? = nil) -> CurlTransport {
        .with {
            $0.additionalCertificateFile = name.map { certificates.file($0).path }
            $0.maximumIdleTime = .seconds(600)
        }
    }

    /// The error of a change, which must not have reached the server.
    private func refusal(
        _ certificate: ServerCertificate,
        trusting name: String?,
        host: String? = nil
    ) async throws -> TransportError {
        try await withServer(certificate) { emulator, authority in
            let port = authority.split(separator: ":")[1]
            let asked = host.map { "\($0):\(port)" } ?? authority
            let error = try await transport(trusting: name).failure(of: request(asked, .post, body: "{}"))
            #expect(emulator.requests.isEmpty)
            #expect(error.message.contains(asked))
            return error
        }
    }

    @Test("stand when the authority is named as an additional one, and are kept")
    func additionalAuthority() async throws {
        _ = try await certificates.makeSelfSigned("root")
        let certificate = try await certificates.makeSigned("server", by: "root", for: "DNS:localhost,IP:127.0.0.1")
        try await withServer(certificate) { emulator, authority in
            let transport = transport(trusting: "root.pem")
            for number in 0..<10 {
                let answer = try await transport.send(request(authority, .post, body: #"{"id":"\#(number)"}"#))
                #expect(answer.status.code == 201)
            }
            let port = authority.split(separator: ":")[1]
            #expect(try await transport.send(request("localhost:\(port)")).status == .ok)
            #expect(emulator.requests.count == 11)
        }
    }

    @Test("stand with a chain, and with the server's own certificate as the additional one; pages arrive whole")
    func chainAndOwnCertificate() async throws {
        let chain = try await certificates.makeChain()
        let own = try await certificates.makeSelfSigned("own")
        for (certificate, trusted) in [(chain, "root.pem"), (own, "own.pem")] {
            try await withServer(certificate) { emulator, authority in
                let text = String(repeating: "milk ", count: 40_000)
                try emulator.seed([["id": "a", "text": .string(text)]], in: "todo")
                let answer = try await transport(trusting: trusted).send(request(authority))
                #expect(answer.status == .ok && answer.text.contains(text))
            }
        }
    }

    @Test("are refused for an unknown authority, and for a certificate that signs itself")
    func unknownAuthority() async throws {
        let own = try await certificates.makeSelfSigned("root")
        let signed = try await certificates.makeSigned("server", by: "root")
        _ = try await certificates.makeSelfSigned("other")
        for (certificate, trusted) in [(signed, nil), (own, nil), (signed, "other.pem"), (own, "other.pem")] {
            let error = try await refusal(certificate, trusting: trusted)
            #expect(error.code == .untrustedCertificate)
            #expect(error.fate == .notSent)
        }
    }

    @Test("are refused for an expired certificate, and for one of another host")
    func expiredAndWrongHost() async throws {
        _ = try await certificates.makeSelfSigned("root")
        let expired = try await certificates.makeSigned("expired", by: "root", days: -1)
        let error = try await refusal(expired, trusting: "root.pem")
        #expect(error.code == .expiredCertificate && error.fate == .notSent, "\(error)")
        let elsewhere = try await certificates.makeSigned("elsewhere", by: "root", for: "DNS:example.org")
        for host in [nil, "localhost"] {
            let error = try await refusal(elsewhere, trusting: "root.pem", host: host)
            #expect(error.code == .certificateForAnotherHost && error.fate == .notSent, "\(error)")
        }
    }

    @Test("are refused below TLS 1.2")
    func oldVersion() async throws {
        var certificate = try await certificates.makeSelfSigned("own")
        certificate.versions = .v1_1...(.v1_1)
        let error = try await refusal(certificate, trusting: "own.pem")
        #expect(error.code == .oldTLSVersion && error.fate == .notSent, "\(error)")
    }

    @Test("to a server that wants a certificate of the client end with that said")
    func clientCertificate() async throws {
        var certificate = try await certificates.makeSelfSigned("own")
        certificate.demandsClientCertificate = true
        let error = try await refusal(certificate, trusting: "own.pem")
        #expect(error.code == .clientCertificateRequired, "\(error)")
        // TLS 1.3 says so only after the request is on its way.
        #expect(error.fate == .mayHaveBeenProcessed)
    }

    @Test("are what a plain request to a secure port should have asked for, and the message says so")
    func plainRequest() async throws {
        try await withServer(try await certificates.makeSelfSigned("own")) { emulator, authority in
            let error = try await transport(trusting: "own.pem").failure(of: request(authority, scheme: "http"))
            #expect(error.message.contains("'https'"), "\(error)")
            #expect(emulator.requests.isEmpty)
        }
    }

    @Test("to a plain port end with that said")
    func plainPort() async throws {
        let server = EmulatorServer(EmulatorConfiguration(tables: ["todo"]))
        let port = try await server.start().port ?? 0
        let error = try await transport().failure(of: request("127.0.0.1:\(port)", .post, body: "{}"))
        await server.stop()
        #expect(error.code == .noTLS && error.fate == .notSent, "\(error)")
        #expect(error.message.contains("'http'"))
    }

    @Test("to a port that says nothing end at the time limit for connecting")
    func silentPort() async throws {
        let server = try ScriptedServer { _ in [.silence] }
        let transport = CurlTransport.with { $0.connectTimeout = .seconds(1) }
        let error = try await transport.failure(of: request(server.authority, .post, body: "{}"))
        #expect(error.code == .timedOut && error.fate == .notSent, "\(error)")
        #expect(error.message.contains("TLS"))
        await server.allConnectionsClosed()
    }

    @Test("need certificates that can be read: no file, no certificate in it, a broken one")
    func unreadable() async throws {
        let own = try await certificates.makeSelfSigned("own")
        try Data("no certificate\n".utf8).write(to: certificates.file("empty.pem"))
        try Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
            .write(to: certificates.file("broken.pem"))
        for name in ["nowhere.pem", "empty.pem", "broken.pem"] {
            try await withServer(own) { emulator, authority in
                let error = try await transport(trusting: name).failure(of: request(authority, .post, body: "{}"))
                #expect(error.code == .unreadableCertificates, "\(name): \(error)")
                #expect(error.fate == .notSent)
                #expect(emulator.requests.isEmpty)
            }
        }
    }

    @Test("that are cut or reset within an answer bring none", arguments: [0, 1, 20, 200])
    func cut(_ count: Int) async throws {
        try await withServer(try await certificates.makeSelfSigned("own")) { emulator, authority in
            let transport = transport(trusting: "own.pem")
            for (number, fault) in [Fault.cut(after: count), .reset(after: count)].enumerated() {
                emulator.inject(fault)
                let change = request(authority, .post, body: #"{"id":"\#(number)"}"#)
                let error = try await transport.failure(of: change)
                #expect(error.code == .connectionLost && error.fate == .mayHaveBeenProcessed, "\(error)")
            }
            #expect(emulator.rows(in: "todo").count == 2, "both changes were carried out, and once")
            #expect(emulator.requests.count == 2)
        }
    }

    @Test("that die under a request do not make it be sent again")
    func diesUnderRequest() async throws {
        try await withServer(try await certificates.makeSelfSigned("own")) { emulator, authority in
            let transport = transport(trusting: "own.pem")
            for number in 0..<10 {
                #expect(try await transport.send(request(authority)).status == .ok)
                emulator.inject(.applyThenDrop())
                let change = request(authority, .post, body: #"{"id":"\#(number)"}"#)
                let error = try await transport.failure(of: change)
                #expect(error.code == .connectionLost && error.fate == .mayHaveBeenProcessed, "\(error)")
            }
            #expect(emulator.requests.count { $0.request.method == "POST" } == 10)
        }
    }
}
