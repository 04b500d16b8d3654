internal import Dispatch
internal import Foundation
internal import SealedSync

/// Asks for a passphrase on the terminal, without showing it.
enum PassphrasePrompt {
    private static let maximumCount = 4096

    /// Asks once.
    static func ask(_ question: String) async throws -> SecretBytes {
        // Waiting for a person has no place on the cooperative pool.
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try answer(to: question) }) }
        }
    }

    /// Asks twice, and refuses two answers that differ.
    static func askForNew() async throws -> SecretBytes {
        let first = try await ask("New passphrase")
        guard try await ask("Once more") == first else {
            throw ToolError("notConfirmed", "the two passphrases differ; nothing was changed")
        }
        return first
    }

    private static func answer(to question: String) throws -> SecretBytes {
        // Before the question: what is typed at once is not shown either.
        let silence = try SilentTerminal()
        Console.writeError("\(question): ", terminator: "")
        defer {
            silence.end()
            Console.writeError("")
        }
        var count = 0
        // Byte by byte: what comes behind the line's end is for somebody else.
        let line = unsafe try SecretBytes(count: maximumCount + 1) { buffer in
            while count < buffer.count {
                let step = unsafe read(STDIN_FILENO, buffer.baseAddress.map { unsafe $0 + count }, 1)
                if step < 0, errno == EINTR { continue }
                if step <= 0 { break }
                if unsafe buffer[count] == UInt8(ascii: "\n") { break }
                count += 1
            }
        }
        guard (1...maximumCount).contains(count) else {
            throw ToolError("invalidParameters", "a passphrase has 1 to \(maximumCount) bytes; nothing was changed")
        }
        return unsafe try line.withUnsafeBytes { line in
            unsafe try SecretBytes(count: count) { bytes in
                unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: line[..<count]))
            }
        }
    }
}
