import SecretMemory
import Testing

@Suite("Redaction of secret bytes")
struct SecretBytesRedactionTests {
    private struct Holder {
        var name = "holder"
        var secret: SecretBytes
        var more: [SecretBytes]
    }

    @Test("no way of printing a secret shows its content or its address")
    func printing() throws {
        let marker = Array("TOP-SECRET-MARKER-0123456789abcd".utf8)
        let secret = unsafe try SecretBytes(count: marker.count) { unsafe $0.copyBytes(from: marker) }
        let address = unsafe secret.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
        let holder = Holder(secret: secret, more: [secret])

        var dumped = ""
        dump(holder, to: &dumped)
        var dumpedAlone = ""
        dump(secret, to: &dumpedAlone)
        let texts = [
            secret.description, secret.debugDescription, "\(secret)", String(describing: secret),
            String(reflecting: secret), "\(holder)", String(reflecting: holder),
            "\(Optional(secret) as Any)", dumped, dumpedAlone,
        ]
        let leaks = [
            "TOP-SECRET", "84, 79, 80", "544f50", "544F50", String(address), String(address, radix: 16), "LockedPages",
            "0x",
        ]
        for text in texts {
            #expect(text.contains("SecretBytes(32 bytes)"))
            for leak in leaks { #expect(!text.contains(leak), "\(text)") }
        }
        #expect(secret.description == "SecretBytes(32 bytes)")
    }

    @Test("a mirror has no children")
    func mirror() throws {
        let mirror = try Mirror(reflecting: SecretBytes.random(count: 32))
        #expect(mirror.children.isEmpty)
        #expect(mirror.superclassMirror == nil)
    }

    @Test("a secret can be neither encoded nor used as text without its closure")
    func noOtherAccess() throws {
        let secret: Any = try SecretBytes.random(count: 32)
        #expect(!(secret is any Encodable))
        #expect(!(secret is any Sequence))
        #expect(!(secret is any LosslessStringConvertible))
        #expect(!(secret is any Hashable))
    }
}
