// The normal form is not in FoundationEssentials.
internal import Foundation

extension SecretBytes {
    /// Creates a secret from what somebody typed: the UTF-8 bytes of the text in one normal form (NFC), so that `é` is
    /// the same secret from every keyboard.
    ///
    /// The bytes are written one by one into the secret's own pages: of an ASCII text no copy is left. What cannot be
    /// helped: the text itself and what it was read from stay in ordinary memory until something else is written
    /// there, and a text beyond ASCII leaves pieces of its normal form there as well. A secret that is read from a
    /// file never has to be a text: `PassphraseUnlocker.readPassphrase(from:)`.
    ///
    /// - Parameter text: At most ``maximumCount`` bytes in its normal form.
    /// - Throws: `SecretMemoryError` with code `invalidCount` or `outOfMemory`.
    public convenience init(_ text: String) throws {
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        let bytes = isASCII ? text.utf8 : text.precomposedStringWithCanonicalMapping.utf8
        unsafe try self.init(count: bytes.count) { buffer in
            for (index, byte) in bytes.enumerated() { unsafe buffer[index] = byte }
        }
    }

    /// The text that the bytes are, in its normal form (NFC); nil when they are that already, or no UTF-8. Of ASCII no copy is
    /// made; a text beyond it leaves pieces in ordinary memory, as ``init(_:)`` says.
    ///
    /// - Throws: `SecretMemoryError` with code `outOfMemory`.
    package func normalized() throws -> SecretBytes? {
        let text = unsafe withUnsafeBytes { bytes in
            unsafe bytes.allSatisfy { $0 < 0x80 } ? nil : String(validating: bytes, as: UTF8.self)
        }
        guard let text else { return nil }
        let normal = try SecretBytes(text)
        return normal == self ? nil : normal
    }
}
