#if !SecretService && !KernelKeyring && !TPM
import Foundation
import Testing

/// What the key stores themselves do, `make test-key-stores` tries in a build that has them.
@Suite("Commands for the platform's key stores in a tool that was built without them")
struct KeysPlatformTests {
    private let folder: TemporaryFolder
    private let device: StoreDevice

    init() async throws {
        folder = try TemporaryFolder()
        device = try await StoreDevice.make(folder.file("d"), rows: 1)
    }

    @Test(
        "are listed, and say how to build one that has them; nothing is changed",
        arguments: [
            ("secret-service", "SecretService"), ("keyring", "KernelKeyring"), ("tpm", "TPM"),
        ]
    )
    func withoutTraits(name: String, trait: String) async throws {
        let help = try await ToolProcess.run(["keys", "--help"])
        #expect(help.output.contains("add-\(name)"))
        let before = try Data(contentsOf: folder.file("d").appending(path: "store.keys"))
        let calls = [
            ["keys", "add-\(name)", "--store", device.path], ["store", "verify", "--store", device.path, "--\(name)"],
            ["keys", "rotate", "--store", device.path, "--keep-\(name)"],
            ["todo", "init", "--store", folder.file("new").path, "--server", "http://127.0.0.1:9", "--\(name)"],
        ]
        for call in calls {
            let result = try await ToolProcess.run(call)
            #expect(result.status == 1, "\(call)")
            #expect(result.message.contains("'swift build --product sealedsync --traits \(trait)'"), "\(result.errors)")
        }
        #expect(try Data(contentsOf: folder.file("d").appending(path: "store.keys")) == before)
        #expect(!FileManager.default.fileExists(atPath: folder.file("new").path))
        let two = try await ToolProcess.run(
            ["keys", "add-passphrase", "--store", device.path, "--\(name)", "--secret-file", "x"]
        )
        #expect(two.status == 64 && two.errors.contains("Give one of"))
    }
}
#endif
