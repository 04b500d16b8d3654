import DatasyncEmulator
import Foundation
import TestCertificates
import Testing

@Suite("The tool and a server over TLS", .timeLimit(.minutes(5)))
struct SecureSyncTests {
    @Test("syncs and judges when the certificate is trusted, and says what to do when it is not")
    func sync() async throws {
        let (folder, certificates) = (try TemporaryFolder(), try CertificateFolder())
        let own = try await certificates.makeSelfSigned("own")
        let files = ["--tls-certificate", own.certificate.path, "--tls-key", own.key.path]
        try await EmulatorProcess.with(3, files) { emulator in
            #expect(emulator.url.hasPrefix("https://127.0.0.1:"))
            let phone = try await Device.make("phone", in: folder, server: emulator.url, protocolNumber: 3)
            _ = try await phone.add("Buy milk", id: "a")

            let refused = try await phone.run(["sync"])
            #expect(refused.status == 1)
            #expect(refused.message.contains("signed by nobody who is trusted here"), "\(refused.message)")
            #expect(try await phone.state("a") == "pending")

            let trusting = ["--certificate-file", own.certificate.path]
            let answer = try await phone.run(["sync"] + trusting + ["--json"]).json()
            #expect(answer["pushed"] as? Int == 1)
            let laptop = try await Device.make("laptop", in: folder, server: emulator.url, protocolNumber: 3)
            _ = try await laptop.run(["pull"] + trusting)
            #expect(try await laptop.texts() == ["a": "Buy milk"])

            let judged = try await ToolProcess.run(
                ["conform", "--server", emulator.url, "--protocol", "3", "--chapter", "delete"] + trusting
            )
            #expect(judged.status == 0, "\(judged.errors)")
        }
    }

    @Test("says which file holds no certificate")
    func unreadable() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("no certificate", to: "empty.pem")
        let phone = try await Device.make("phone", in: folder, server: "https://127.0.0.1:9", protocolNumber: 3)
        let result = try await phone.run(["pull", "--certificate-file", file.path])
        #expect(result.status == 1)
        #expect(result.message.contains("empty.pem' holds no certificate in PEM form"), "\(result.message)")
    }

    @Test("sends nothing to a proxy that the environment names")
    func proxies() async throws {
        let folder = try TemporaryFolder()
        try await EmulatorProcess.with(3) { emulator in
            let proxies = ["http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"]
            let phone = try await Device.make(
                "phone",
                in: folder,
                server: emulator.url,
                protocolNumber: 3,
                environment: Dictionary(uniqueKeysWithValues: proxies.map { ($0, "http://127.0.0.1:9") })
            )
            _ = try await phone.add("Buy milk", id: "a")
            #expect(try await phone.json("sync")["pushed"] as? Int == 1)
            #expect(try await emulator.texts() == ["a": "Buy milk"])
        }
    }
}
