import DurableFiles
import SecretMemory

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Where a passphrase comes from. Files and variables are read when the passphrase is needed, and wiped afterwards.
enum PassphraseSource: Sendable {
    case bytes(SecretBytes)
    case file(URL)
    case environmentVariable(String)

    static let maximumCount = 4096

    /// The passphrase. Blocks.
    func read() throws -> SecretBytes {
        let passphrase =
            switch self {
            case .bytes(let bytes): bytes
            case .file(let url): try Self.readFile(url)
            case .environmentVariable(let name): try Self.readVariable(name)
            }
        guard (1...Self.maximumCount).contains(passphrase.count) else {
            throw KeyError(
                .invalidParameters,
                message: "A passphrase has 1 to \(Self.maximumCount) bytes, not \(passphrase.count)."
            )
        }
        return passphrase
    }

    /// Any file that can be read serves, a pipe or a link included: unlike the files this module writes, a passphrase
    /// file is the caller's own, and shells hand passphrases over as `/dev/fd/63`.
    private static func readFile(_ url: URL) throws -> SecretBytes {
        // Two bytes more for the line's end, and one to tell that there is more.
        var count = 0
        let buffer = unsafe try SecretBytes(count: maximumCount + 3) { buffer in
            do throws(SystemCallFailure) {
                count = unsafe try FileDescriptor(opening: url.path(percentEncoded: false), flags: O_RDONLY)
                    .read(into: buffer)
            } catch {
                throw KeyError(
                    .secretUnavailable,
                    message: "The passphrase file at \(url.path(percentEncoded: false)) cannot be read.",
                    cause: error
                )
            }
        }
        guard count <= maximumCount + 2 else {
            throw KeyError(
                .invalidParameters,
                message: "A passphrase has 1 to \(maximumCount) bytes; the file has more."
            )
        }
        let content = unsafe try buffer.withUnsafeBytes { bytes in
            let content = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
            return unsafe try SecretBytes(count: count) { unsafe $0.copyMemory(from: content) }
        }
        let newlineCount = unsafe content.withUnsafeBytes { bytes in
            guard unsafe bytes.last == UInt8(ascii: "\n") else { return 0 }
            return unsafe bytes.dropLast().last == UInt8(ascii: "\r") ? 2 : 1
        }
        return unsafe try content.withUnsafeBytes { bytes in
            let line = unsafe UnsafeRawBufferPointer(rebasing: bytes.dropLast(newlineCount))
            return unsafe try SecretBytes(count: line.count) { unsafe $0.copyMemory(from: line) }
        }
    }

    private static func readVariable(_ name: String) throws -> SecretBytes {
        guard let value = unsafe getenv(name) else {
            throw KeyError(.secretUnavailable, message: "The environment variable \(name) is not set.")
        }
        let bytes = unsafe UnsafeRawBufferPointer(start: value, count: strlen(value))
        return unsafe try SecretBytes(count: bytes.count) { unsafe $0.copyMemory(from: bytes) }
    }
}
