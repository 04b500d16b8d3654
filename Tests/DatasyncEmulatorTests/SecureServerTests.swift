import Foundation
import TestCertificates
import Testing

@testable import DatasyncEmulator

/// The server over TLS, asked by the `openssl` program.
@Suite(.timeLimit(.minutes(5)))
struct SecureServerTests {
    private static let request = "GET /tables/todoitem HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    private let folder: CertificateFolder

    init() throws {
        folder = try CertificateFolder()
    }

    @Test("a page of 200 KB arrives whole, from a server that a chain of certificates vouches for")
    func page() async throws {
        let page = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let respond: EmulatorServer.Responder = { _, _ in EmulatorResponse(200, body: page) }
        try await withServer(certificate: try await folder.makeChain(), respond: respond) { _, url in
            #expect(url.scheme == "https")
            let result = try await folder.ask(url, trusting: "root.pem", Self.request)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.count > 200_000)
            // Not compared with ==, for whose failure every difference is looked for.
            #expect(result.output.suffix(200_000).elementsEqual(page))
            let untrusted = try await folder.ask(url, trusting: "leaf.pem", Self.request)
            #expect(untrusted.status != 0 && untrusted.output.isEmpty)
        }
    }

    @Test("large bodies arrive, and URLs in answers are those of TLS")
    func body() async throws {
        try await withServer(certificate: try await folder.makeSelfSigned("a")) { server, url in
            let body = #"{"id":"b","text":"\#(String(repeating: "x", count: 500_000))"}"#
            let head =
                "POST /tables/todoitem HTTP/1.1\r\nHost: a:1\r\nConnection: close\r\nContent-Type: application/json\r\n"
            let request = head + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            let result = try await folder.ask(url, trusting: "a.pem", request)
            let text = String(decoding: result.output, as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 201 Created\r\n"), "\(result.errors)")
            #expect(text.contains("\r\nLocation: https://a:1/tables/todoitem/b\r\n"))
            #expect(server.emulator.rows(in: "todoitem").first?["text"]?.string?.utf8.count == 500_000)
        }
    }

    @Test("TLS below 1.2 is not spoken, unless a test wants nothing else")
    func versions() async throws {
        var certificate = try await folder.makeSelfSigned("a")
        let old = ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]
        try await withServer(certificate: certificate) { _, url in
            for option in ["-tls1_2", "-tls1_3"] {
                #expect(try await folder.ask(url, trusting: "a.pem", Self.request, options: [option]).status == 0)
            }
            let result = try await folder.ask(url, trusting: "a.pem", Self.request, options: old)
            #expect(result.output.isEmpty && result.errors.contains("alert protocol version"))
        }
        certificate.versions = .v1_1...(.v1_1)
        try await withServer(certificate: certificate) { _, url in
            let result = try await folder.ask(url, trusting: "a.pem", Self.request, options: ["-tls1_2"])
            #expect(result.output.isEmpty && result.errors.contains("unsupported protocol"), "\(result.errors)")
            let answered = try await folder.ask(url, trusting: "a.pem", Self.request, options: old)
            #expect(String(decoding: answered.output, as: UTF8.self).hasPrefix("HTTP/1.1 200 OK"))
        }
    }

    @Test("a server may demand a certificate that no client has")
    func clientCertificate() async throws {
        var certificate = try await folder.makeSelfSigned("a")
        certificate.demandsClientCertificate = true
        try await withServer(certificate: certificate) { server, url in
            let result = try await folder.ask(url, trusting: "a.pem", Self.request)
            #expect(result.output.isEmpty && result.errors.contains("certificate required"), "\(result.errors)")
            #expect(server.emulator.requests.isEmpty)
        }
    }

    @Test("an answer is cut and reset at the very byte inside TLS too, and a client sees both")
    func faults() async throws {
        try await withServer(certificate: try await folder.makeSelfSigned("a")) { server, url in
            for (fault, error) in [(Fault.cut(after: 40), "unexpected eof"), (.reset(after: 40), "errno=104")] {
                server.emulator.inject(fault)
                let result = try await folder.ask(url, trusting: "a.pem", Self.request)
                #expect(result.output.count == 40)
                #expect(result.errors.contains(error), "\(result.errors)")
            }
            server.emulator.inject(.dribble(7, every: .zero))
            let result = try await folder.ask(url, trusting: "a.pem", Self.request)
            #expect(
                result.output.suffix(9) == Data("l}\r\n0\r\n\r\n".utf8) && !result.errors.contains("eof"),
                "\(result.errors)"
            )
        }
    }

    @Test("whoever does not speak TLS, or says nothing, gets nothing, and stopping does not wait for him")
    func noHandshake() async throws {
        var settings = ServerSettings()
        settings.headLimit = .milliseconds(100)
        let certificate = try await folder.makeSelfSigned("a")
        try await withServer(certificate: certificate, settings: settings) { server, url in
            let plain = try RawClient(url)
            try await plain.send(Self.request)
            #expect(try await plain.readToEnd().text.contains("HTTP") == false)
            #expect(try await RawClient(url).readToEnd().bytes == [])
        }
        settings.headLimit = .seconds(3_600)
        settings.stopGrace = .seconds(3_600)
        try await withServer(certificate: certificate, settings: settings) { server, url in
            let client = try RawClient(url)
            try await client.send([0x16, 3, 1])
            await server.stop()
            #expect(try await client.readToEnd().bytes == [])
        }
    }

    @Test("files that are not certificate and key, or do not belong together, are an error that names the file")
    func invalidFiles() async throws {
        let good = try await folder.makeSelfSigned("a")
        let other = try await folder.makeSelfSigned("b")
        try Data("not PEM".utf8).write(to: folder.file("text"))
        try await folder.openSSL(["pkey", "-in", "a.key", "-aes256", "-passout", "pass:x", "-out", "locked.key"])
        for (certificate, key, name) in [
            (good.certificate, other.key, "b.key"), (good.certificate, folder.file("none"), "none"),
            (folder.file("none"), good.key, "none"), (folder.file("text"), good.key, "text"),
            (good.certificate, folder.file("text"), "text"),
            (good.certificate, folder.file("locked.key"), "locked.key"),
            (good.key, good.key, "a.key"),
        ] {
            let server = EmulatorServer(
                EmulatorConfiguration(tables: []),
                certificate: ServerCertificate(certificate: certificate, key: key)
            )
            let error = await #expect(throws: EmulatorError.self) { try await server.start() }
            #expect(error?.code == .invalidCertificate)
            #expect(error?.message.contains("/\(name) ") == true, "\(error?.message ?? "")")
            #expect(error?.description.contains("error:") == true, "the library's reason is given")
            #expect(await server.url == nil)
        }
    }
}
