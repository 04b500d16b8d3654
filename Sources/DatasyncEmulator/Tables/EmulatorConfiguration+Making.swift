import Foundation

extension EmulatorConfiguration {
    /// A fresh id in the dialect's form: 32 hexadecimal digits, or a UUID with dashes; lower case both.
    func makeID() -> String {
        var bytes = random(16)
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        guard !isDotNet else { return digits.joined() }
        let groups = [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]]
        return groups.map { $0.joined() }.joined(separator: "-")
    }

    /// The version that follows another one: 16 random bytes, or a decimal counter that counts from 1; base64 both.
    func makeVersion(after version: String?) -> String {
        guard !isDotNet else { return Data(random(16)).base64EncodedString() }
        let text = version.flatMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) }
        // A version that was sent with an insert need not be a number; SQLite then counts from its leading digits.
        let count = text.flatMap { Int64($0.prefix { $0.isASCII && $0.isNumber }) } ?? 0
        return Data((count == .max ? 1 : count + 1).description.utf8).base64EncodedString()
    }

    /// Exactly that many bytes, whatever the source gives.
    private func random(_ count: Int) -> [UInt8] {
        let bytes = randomBytes(count).prefix(count)
        return bytes + Array(repeating: 0, count: count - bytes.count)
    }
}
