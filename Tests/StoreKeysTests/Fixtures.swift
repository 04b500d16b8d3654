import Foundation
import SecretMemory
import Synchronization

@testable import StoreKeys

/// A folder of its own for each test, removed at the end.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "StoreKeysTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            print("A temporary folder was left behind: \(error)")
        }
    }

    var keyslots: URL { url.appending(path: "store.keyslots") }
    var secretFile: URL { url.appending(path: "store.secret") }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path()).sorted()
    }
}

extension SecretBytes {
    convenience init(bytes: some Collection<UInt8>) throws {
        unsafe try self.init(count: bytes.count) { unsafe $0.copyBytes(from: bytes) }
    }

    convenience init(text: String) throws {
        try self.init(bytes: Array(text.utf8))
    }

    /// The content in clear: only of secrets made for tests.
    var revealed: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}

extension ScryptCost {
    static let quick = insecureForTests(log2N: 4, blockSize: 8, parallelization: 1)
}

extension PassphraseUnlocker {
    static func quick(_ passphrase: String, label: String = "") throws -> PassphraseUnlocker {
        try PassphraseUnlocker(passphrase: SecretBytes(text: passphrase), cost: .quick, label: label)
    }
}

extension RandomSource {
    /// The bytes 0, 1, 2 and so on after a start, for public bytes, and their complements for secrets.
    static func counting(from start: UInt8) -> RandomSource {
        let next = Atomic(UInt64(start))
        let draw = { @Sendable (count: Int) -> [UInt8] in
            let first = next.wrappingAdd(UInt64(count), ordering: .relaxed).oldValue
            return (0..<count).map { UInt8(truncatingIfNeeded: first &+ UInt64($0)) }
        }
        return RandomSource(secret: { try SecretBytes(bytes: draw($0).map { ~$0 }) }, bytes: { draw($0) })
    }
}

func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.filter { !$0.isWhitespace }
    return stride(from: 0, to: digits.count, by: 2)
        .map { offset in
            let start = digits.index(digits.startIndex, offsetBy: offset)
            return UInt8(digits[start...].prefix(2), radix: 16)!
        }
}

func write(_ bytes: [UInt8], to url: URL, mode: Int = 0o600) throws {
    try Data(bytes).write(to: url)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path())
}

/// The code of the error that `body` throws, or `nil` if it throws none or another one.
func keyErrorCode(_ body: () async throws -> Void) async -> KeyError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? KeyError)?.code
    }
}
