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
    private let recoveryFields: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        fields = try Self.fields(in: "vector")
        recoveryFields = try Self.fields(in: "recovery")
    }

    /// The fields of a block by their names, their lines joined.
    private static func fields(in language: String) throws -> [String: String] {
        var fields: [String: String] = [:]
        var name = ""
        for line in try block(language).split(separator: "\n") {
            if let colon = line.firstIndex(of: ":") {
                name = String(line[..<colon])
                fields[name] = ""
            } else {
                fields[name, default: ""] += line.trimmingCharacters(in: .whitespaces)
            }
        }
        return fields
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

    @Test("a file with a recovery code, computed by another program, is what is written here, and opens")
    func recoveryCode() async throws {
        let storeID = try RandomSource.counting(from: 1).makeIdentifier()
        let code = try RecoveryCode(randomBytes: SecretBytes(bytes: (17...42).map { ~UInt8($0) }))
        let text = try #require(recoveryFields["recovery code"])
        #expect(code.text.revealed == Array(text.utf8))
        let random = RandomSource.counting(from: 43)
        let (rootKey, dataKey) = try (random.makeSecret(), random.makeSecret())
        let enrollment = try await RecoveryCodeUnlocker(code).enroll(storeID: storeID)
        #expect(hexadecimal(enrollment.secret.revealed) == recoveryFields["slot's secret"])
        #expect(hexadecimal(dataKey.revealed) == recoveryFields["current data key"])
        let file = try KeyslotFile(
            sealing: rootKey,
            dataKey: dataKey,
            storeID: storeID,
            slots: [NewSlot(kind: .recoveryCode, label: "paper", enrollment: enrollment)],
            createdMilliseconds: 1_763_712_000_000,
            random: random
        )
        #expect(try hexadecimal(file.encoded()) == recoveryFields["keyslot file"])
        try write(file.encoded(), to: folder.keyslots)
        let typed = try RecoveryCode(typed: SecretBytes(text: text.lowercased()))
        let opened = try await StoreKeyring.open(at: folder.keyslots, unlocker: RecoveryCodeUnlocker(typed))
        #expect(try opened.dataKey == dataKey)
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
        for end in ["\n", "\r\n"] {
            try write(Array((Self.passphrase + end).utf8), to: passphraseFile)
            #expect(try await reader.read(folder.keyslots, "passphrase-scrypt", passphraseFile) == keys)
        }
        try write(Array((Self.passphrase + "\n\n").utf8), to: passphraseFile)
        #expect(try await reader.read(folder.keyslots, "passphrase-scrypt", passphraseFile) == "wrong secret\n")
        #expect(try await reader.read(folder.keyslots, "secret-file", folder.secretFile) == keys)
        let recovery = folder.url.appending(path: "recovery.keyslots")
        let codeFile = folder.url.appending(path: "code")
        try write(bytes(#require(recoveryFields["keyslot file"])), to: recovery)
        try write(
            Array(#require(recoveryFields["recovery code"]).lowercased().replacing("0", with: "o").utf8),
            to: codeFile
        )
        let recovered = try #require(recoveryFields["current data key"]) + " -\n"
        #expect(try await reader.read(recovery, "recovery-code", codeFile) == recovered)
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
        // And after everything that changes a file, a rotation in progress included.
        let (keyslots, secretFile) = (Keyslots(made), SecretFileUnlocker(at: folder.secretFile))
        try write(Array("the third".utf8), to: codeFile)
        try await keyslots.changePassphrase(
            from: PassphraseUnlocker(file: passphraseFile),
            to: PassphraseUnlocker(file: codeFile, cost: .memory8MiB)
        )
        #expect(try await reader.read(made, "passphrase-scrypt", codeFile) == key)
        try await keyslots.renewRootKey(keeping: [secretFile])
        var pending = ""
        let rotated = try await keyslots.rotateDataKey(authorizedBy: secretFile) { current, next in
            pending = "\(hexadecimal(current.revealed)) \(hexadecimal(next.revealed))\n"
            let during = try await reader.read(made, "secret-file", folder.secretFile)
            #expect(during == pending)
        }
        let newKey = try hexadecimal(rotated.dataKey.revealed) + " -\n"
        #expect(try await reader.read(made, "secret-file", folder.secretFile) == newKey)
        let renewed = try await keyslots.rotateKeys(
            keeping: [secretFile],
            isEncryptedWith: { _ in true },
            reencrypt: { current, next, commit in
                try commit()
                pending = "\(hexadecimal(current.revealed)) \(hexadecimal(next.revealed))\n"
                let during = try await reader.read(made, "secret-file", folder.secretFile)
                #expect(during == pending, "the time of an overdue key is negative, which says nothing to this reader")
            }
        )
        let lastKey = try hexadecimal(renewed.keyring.dataKey.revealed) + " -\n"
        #expect(try await reader.read(made, "secret-file", folder.secretFile) == lastKey)
        // A passphrase in either way of writing it, and one from before there was a normal form.
        for passphrase in ["caf\u{E9}", "cafe\u{301}"] {
            let unlocker = try PassphraseUnlocker.quick(passphrase)
            let forms: [any StoreUnlocker] = [unlocker] + (try await unlocker.olderForm().map { [$0] } ?? [])
            for form in forms {
                let slots = folder.url.appending(path: "form-\(UUID().uuidString)")
                let key = try await StoreKeyring.create(at: slots, unlocker: form).dataKey
                try write(Array((passphrase + "\n").utf8), to: codeFile)
                let line = "\(hexadecimal(key.revealed)) -\n"
                #expect(try await reader.read(slots, "passphrase-scrypt", codeFile) == line)
            }
        }
        var damaged = try Array(Data(contentsOf: made))
        damaged[100] ^= 1
        try write(damaged, to: made)
        #expect(try await reader.read(made, "secret-file", folder.secretFile) == "damaged\n")
    }
}
