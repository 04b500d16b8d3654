import Foundation
import SecretMemory
import Synchronization
import Testing

@testable import StoreKeys

@Suite("Unlockers")
struct UnlockerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func creationCode(_ unlockers: any StoreUnlocker...) async -> KeyError.Code? {
        await keyErrorCode { _ = try await StoreKeyring.create(at: folder.keyslots, unlockers: unlockers) }
    }

    private func openingCode(_ unlocker: any StoreUnlocker) async -> KeyError.Code? {
        await keyErrorCode { _ = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker) }
    }

    @Test("a passphrase file gives its content without one line's end")
    func passphraseFile() async throws {
        let file = folder.url.appending(path: "passphrase")
        let expected: [(content: String, passphrase: String)] = [
            ("naïve ❤︎", "naïve ❤︎"), ("two words\n", "two words"), ("two words\r\n", "two words"), ("a\n\n", "a\n"),
            ("a\r", "a\r"), (" a ", " a "), ("a\nb", "a\nb"), ("\n\n", "\n"),
        ]
        for (content, passphrase) in expected {
            try write(Array(content.utf8), to: file)
            #expect(try PassphraseSource.file(file).read().revealed == Array(passphrase.utf8))
        }
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: PassphraseUnlocker.quick("two words"))
        try write(Array("two words\n".utf8), to: file)
        #expect(await openingCode(PassphraseUnlocker(file: file)) == nil)
        try write(Array("two words\n".utf8), to: file, mode: 0o644)
        #expect(await openingCode(PassphraseUnlocker(file: file)) == nil, "whose file it is, is the caller's business")
        try FileManager.default.removeItem(at: file)
        #expect(await openingCode(PassphraseUnlocker(file: file)) == .secretUnavailable)
    }

    @Test("a passphrase comes through a pipe as well")
    func passphrasePipe() async throws {
        let pipe = Pipe()
        pipe.fileHandleForWriting.write(Data("two words\n".utf8))
        try pipe.fileHandleForWriting.close()
        let file = URL(filePath: "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)")
        #expect(try await PassphraseUnlocker.readPassphrase(from: file).revealed == Array("two words".utf8))
    }

    @Test("an empty passphrase and one above 4096 bytes are refused")
    func passphraseSizes() async throws {
        let file = folder.url.appending(path: "passphrase")
        for content in ["", "\n", "\r\n", String(repeating: "a", count: 4097)] {
            try write(Array(content.utf8), to: file)
            #expect(await keyErrorCode { _ = try PassphraseSource.file(file).read() } == .invalidParameters)
        }
        try write(Array(repeating: 97, count: 4099), to: file)
        #expect(await keyErrorCode { _ = try PassphraseSource.file(file).read() } == .invalidParameters)
        try write(Array(repeating: 97, count: 4096) + [13, 10], to: file)
        #expect(try PassphraseSource.file(file).read().count == 4096)
        #expect(await creationCode(try PassphraseUnlocker(passphrase: SecretBytes(text: ""))) == .invalidParameters)
        #expect(try folder.names() == ["passphrase"])
    }

    @Test("an environment variable gives its value, and is secretUnavailable when it is not set")
    func environmentVariable() async throws {
        await #expect(processExitsWith: .success) {
            unsafe setenv("STORE_PASSPHRASE", "from outside\n", 1)
            let passphrase = try PassphraseSource.environmentVariable("STORE_PASSPHRASE").read()
            try #require(passphrase.revealed == Array("from outside\n".utf8))
        }
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: PassphraseUnlocker.quick("any"))
        let unlocker = PassphraseUnlocker(environmentVariable: "A_VARIABLE_THAT_NOBODY_SETS")
        #expect(await openingCode(unlocker) == .secretUnavailable)
    }

    @Test("without further wish, a slot gets OWASP's cost and a salt of its own")
    func standardCost() async throws {
        let unlocker = try PassphraseUnlocker(passphrase: SecretBytes(text: "any"))
        let storeID = try RandomSource.system.makeIdentifier()
        let first = try await ScryptSlotParameters(decoding: unlocker.enroll(storeID: storeID).parameters)
        let second = try await ScryptSlotParameters(decoding: unlocker.enroll(storeID: storeID).parameters)
        #expect(first.cost == .memory128MiB)
        #expect(first.salt != second.salt)
    }

    @Test("a secret file is 64 hexadecimal digits and a line's end; capitals and a missing end are read")
    func secretFileText() async throws {
        let unlocker = SecretFileUnlocker(at: folder.secretFile)
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker)
        let text = try String(contentsOf: folder.secretFile, encoding: .utf8)
        #expect(text.wholeMatch(of: /[0-9a-f]{64}\n/) != nil)
        for same in [text, text.uppercased(), String(text.dropLast())] {
            try write(Array(same.utf8), to: folder.secretFile)
            #expect(await openingCode(unlocker) == nil)
        }
        let digits = String(text.dropLast())
        let short = String(digits.dropLast())
        let damaged: [String] = [
            "", "\n", "\(short)\n", "\(digits)0", "\(digits) ", "g\(short)\n", "\(short)/\n", "0x\(short.dropLast())",
            "\(digits)\r\n",
        ]
        for text in damaged {
            try write(Array(text.utf8), to: folder.secretFile)
            #expect(await openingCode(unlocker) == .damagedFile, "\(text.count) characters")
        }
        // Nor does a creation replace what it cannot read.
        try FileManager.default.removeItem(at: folder.keyslots)
        #expect(await creationCode(unlocker) == .damagedFile)
        #expect(try String(contentsOf: folder.secretFile, encoding: .utf8) == damaged.last)
    }

    @Test("an unlocker that gives another secret when asked again is caught before a file is written")
    func unreliable() async throws {
        let unlocker = StubUnlocker { _ in try .random(count: 32) }
        #expect(await creationCode(unlocker) == .unreliableUnlocker)
        #expect(try folder.names() == [])
    }

    @Test("an unlocker's secret of another size is refused", arguments: [0, 31, 33])
    func wrongSize(count: Int) async throws {
        let secret = try SecretBytes.random(count: count)
        #expect(await creationCode(StubUnlocker { _ in secret }) == .invalidParameters)
    }

    @Test("an unlocker's own error is secretUnavailable with that error as the cause; a KeyError passes as it is")
    func ownErrors() async throws {
        struct Locked: Error {}
        do {
            _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: StubUnlocker { _ in throw Locked() })
            Issue.record("the creation succeeded")
        } catch let error as KeyError {
            #expect(error.code == .secretUnavailable)
            #expect(error.cause is Locked)
        }
        #expect(await creationCode(StubUnlocker { _ in throw KeyError(.inputOutput, "") }) == .inputOutput)
        await #expect(throws: CancellationError.self) {
            try await StoreKeyring.create(
                at: folder.keyslots,
                unlocker: StubUnlocker { _ in throw CancellationError() }
            )
        }
    }

    @Test("a slot that cannot be tried does not hide another one that opens")
    func oneSlotOfTwo() async throws {
        let secret = try SecretBytes.random(count: 32)
        let isFirstReachable = Flag()
        func unlocker(_ parameters: [UInt8]) -> StubUnlocker {
            StubUnlocker(parameters: parameters) { parameters in
                if parameters == [1], !isFirstReachable.value.withLock({ $0 }) {
                    throw KeyError(.secretUnavailable, "The first is out of reach.")
                }
                return secret
            }
        }
        let both: [any StoreUnlocker] = [unlocker([1]), unlocker([2])]
        let created = try await StoreKeyring.create(at: folder.keyslots, unlockers: both)
        isFirstReachable.value.withLock { $0 = false }
        let opened = try await StoreKeyring.open(at: folder.keyslots, unlocker: both[0])
        #expect(try opened.dataKey == created.dataKey)
    }

    @Test("an unlocker over a key service needs nothing but the protocol")
    func keyService() async throws {
        // The service wraps and unwraps; the wrapped secret lies in the slot's parameters.
        let service = try KeyService()
        let created = try await StoreKeyring.create(at: folder.keyslots, unlocker: service)
        let opened = try await StoreKeyring.open(at: folder.keyslots, unlocker: service)
        #expect(try opened.dataKey == created.dataKey)
        #expect(await openingCode(try KeyService()) == .wrongSecret)
    }

    @Test("a kind has 1 to 32 of the characters a-z, 0-9 and '-'")
    func kinds() async throws {
        for name in ["a", "passphrase-scrypt", "0", String(repeating: "z", count: 32)] {
            #expect(try SlotKind(name).description == name)
        }
        for name in ["", "A", "a b", "a_b", "é", "a\u{0}", "a.b", String(repeating: "z", count: 33)] {
            #expect(await keyErrorCode { _ = try SlotKind(name) } == .invalidParameters)
        }
    }
}

/// A switch that tests turn.
final class Flag: Sendable {
    let value = Mutex(true)
}

/// An unlocker that answers from a closure, which is given the slot's parameters.
struct StubUnlocker: StoreUnlocker {
    let slotKind: SlotKind
    let parameters: [UInt8]
    let answer: @Sendable ([UInt8]) throws -> SecretBytes

    init(parameters: [UInt8] = [], answer: @escaping @Sendable ([UInt8]) throws -> SecretBytes) {
        slotKind = try! SlotKind("test-stub")
        self.parameters = parameters
        self.answer = answer
    }

    func enroll(storeID: RandomIdentifier) async throws -> SlotEnrollment {
        try SlotEnrollment(secret: answer(parameters), parameters: parameters)
    }

    func secret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes {
        try answer(slot.parameters)
    }
}

/// A key service with one key, which never leaves it.
struct KeyService: StoreUnlocker {
    private let key: SecretBytes

    init() throws {
        key = try .random(count: 32)
    }

    var slotKind: SlotKind { try! SlotKind("test-key-service") }

    func enroll(storeID: RandomIdentifier) async throws -> SlotEnrollment {
        let secret = try SecretBytes.random(count: 32)
        let nonce = try RandomSource.system.makeBytes(12)
        let wrapped = try AES256GCM.seal(secret, key: key, nonce: nonce, associatedData: storeID.bytes)
        return SlotEnrollment(secret: secret, parameters: nonce + wrapped)
    }

    func secret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes {
        let wrapped = Array(slot.parameters.dropFirst(12))
        let nonce = Array(slot.parameters.prefix(12))
        guard let secret = try AES256GCM.open(wrapped, key: key, nonce: nonce, associatedData: storeID.bytes) else {
            throw KeyError(.wrongSecret, "The service does not have this key.")
        }
        return secret
    }
}
