import SecretMemory
import Testing

@Suite("A secret from a text")
struct SecretBytesTextTests {
    private func bytes(_ text: String) throws -> [UInt8] {
        unsafe try SecretBytes(text).withUnsafeBytes { unsafe Array($0) }
    }

    @Test("has its bytes, whatever its length", arguments: ["", "a", "correct horse battery staple", "пароль 🔑"])
    func contents(_ text: String) throws { #expect(try bytes(text) == Array(text.utf8)) }

    @Test("is the same from every keyboard")
    func normalForm() throws {
        #expect(try bytes("cafe\u{301}") == Array("caf\u{E9}".utf8))
        #expect(try bytes("\u{1112}\u{1161}\u{11AB}") == Array("\u{D55C}".utf8))
        #expect(try SecretBytes("cafe\u{301}") == SecretBytes("caf\u{E9}"))
    }

    @Test("beyond the limit is refused")
    func limit() throws {
        #expect(try SecretBytes(String(repeating: "a", count: SecretBytes.maximumCount)).count == 1 << 20)
        #expect { try SecretBytes(String(repeating: "a", count: SecretBytes.maximumCount + 1)) } throws: { error in
            (error as? SecretMemoryError)?.code == .invalidCount
        }
    }
}
