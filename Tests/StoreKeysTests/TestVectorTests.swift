import Foundation
import SecretMemory
import Testing

@testable import StoreKeys

@Suite("The test vector and the reader in Keys/README.md")
struct TestVectorTests {
    /// The description of the format, as it stands in the repository.
    private static let description: String = {
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Keys/README.md")
        return try! String(contentsOf: url.standardizedFileURL, encoding: .utf8)
    }()

    /// The text of the first fenced block in a language.
    private static func block(_ language: String) throws -> String {
        let start = try #require(description.range(of: "```\(language)\n"))
        let rest = description[start.upperBound...]
        let end = try #require(rest.range(of: "```"))
        return String(rest[..<end.lowerBound])
    }

    private static let passphrase = "correct horse battery staple"

    private let folder: TemporaryFolder
    private let fields: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        var fields: [String: String] = [:]
        var name = ""
        for line in try Self.block("vector").split(separator: "\n") {
            if let colon = line.firstIndex(of: ":") {
                name = String(line[..<colon])
                fields[name] = ""
            } else {
                fields[name, default: ""] += line.trimmingCharacters(in: .whitespaces)
            }
        }
        self.fields = fields
    }

    private func writeVector() throws {
        try write(bytes(#require(fields["keyslot file"])), to: folder.keyslots)
        try write(Array((#require(fields["secret file"]) + "\n").utf8), to: folder.secretFile)
    }

    @Test("fixed inputs give the vector, byte for byte")
    func generated() async throws {
        let random = RandomSource.counting(from: 1)
        let storeID = try random.makeIdentifier()
        let passphrase = try PassphraseUnlocker(
            passphrase: SecretBytes(text: Self.passphrase),
            cost: .quick,
            label: "Ada",
            random: random
        )
        let secretFile = SecretFileUnlocker(at: folder.secretFile, label: "", random: random)
        let slots = try await [
            NewSlot(kind: .passphrase, label: "Ada", enrollment: passphrase.enroll(storeID: storeID)),
            NewSlot(kind: .secretFile, label: "", enrollment: secretFile.enroll(storeID: storeID)),
        ]
        let (rootKey, dataKey, pending) = try (random.makeSecret(), random.makeSecret(), random.makeSecret())
        let file = try KeyslotFile(
            sealing: rootKey,
            dataKey: dataKey,
            pendingDataKey: pending,
            storeID: storeID,
            slots: slots,
            createdMilliseconds: 1_763_712_000_000,
            random: random
        )
        let secretText = try String(contentsOf: folder.secretFile, encoding: .utf8)
        let expected = [
            ("secret file", secretText.trimmingCharacters(in: .newlines)),
            ("store identifier", storeID.description),
            ("root key", hexadecimal(rootKey.revealed)),
            ("current data key", hexadecimal(dataKey.revealed)),
            ("pending data key", hexadecimal(pending.revealed)),
            ("keyslot file", hexadecimal(try file.encoded())),
        ]
        .map { name, digits in
            let lines = stride(from: 0, to: digits.count, by: 96).map { digits.dropFirst($0).prefix(96) }
            return "\(name):\n" + lines.map { "  \($0)\n" }.joined()
        }
        .joined()
        #expect(try Self.block("vector") == expected, "The vector should read:\n\(expected)")
    }

    @Test("both unlockers open the vector and find its keys")
    func opened() async throws {
        try writeVector()
        let unlockers: [any StoreUnlocker] = [
            try PassphraseUnlocker(passphrase: SecretBytes(text: Self.passphrase)),
            SecretFileUnlocker(at: folder.secretFile),
        ]
        for unlocker in unlockers {
            let keyring = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker)
            #expect(keyring.storeID.description == fields["store identifier"])
            #expect(try hexadecimal(keyring.dataKey.revealed) == fields["current data key"])
            #expect(try hexadecimal(#require(try keyring.pendingDataKey).revealed) == fields["pending data key"])
        }
    }

    @Test(
        "the reader in Python opens the vector and a file made here, and refuses a wrong secret and damage",
        .enabled("needs python3 with the package 'cryptography'") { try await PythonReader.isAvailable() }
    )
    func python() async throws {
        try writeVector()
        let reader = try PythonReader(program: Self.block("python"), folder: folder)
        let passphraseFile = folder.url.appending(path: "passphrase")
        try write(Array(Self.passphrase.utf8), to: passphraseFile)
        let keys = try "\(#require(fields["current data key"])) \(#require(fields["pending data key"]))\n"
        #expect(try await reader.read(folder.keyslots, "passphrase-scrypt", passphraseFile) == keys)
        #expect(try await reader.read(folder.keyslots, "secret-file", folder.secretFile) == keys)
        try write(Array("another".utf8), to: passphraseFile)
        #expect(try await reader.read(folder.keyslots, "passphrase-scrypt", passphraseFile) == "wrong secret\n")

        // At the cost that is really written, and through the public way.
        let made = folder.url.appending(path: "made.keyslots")
        let keyring = try await StoreKeyring.create(
            at: made,
            unlockers: [PassphraseUnlocker(file: passphraseFile), SecretFileUnlocker(at: folder.secretFile)]
        )
        let key = try hexadecimal(keyring.dataKey.revealed) + " -\n"
        #expect(try await reader.read(made, "passphrase-scrypt", passphraseFile) == key)
        #expect(try await reader.read(made, "secret-file", folder.secretFile) == key)
        var damaged = try Array(Data(contentsOf: made))
        damaged[100] ^= 1
        try write(damaged, to: made)
        #expect(try await reader.read(made, "secret-file", folder.secretFile) == "damaged\n")
    }
}
