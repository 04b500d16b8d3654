import SecretMemory
import Testing

@Suite("Secret bytes")
struct SecretBytesTests {
    @Test("the closure gets zeros, and what it writes is what is lent", arguments: [0, 1, 32, 4096, 4097, 1 << 20])
    func contents(count: Int) throws {
        let secret = unsafe try SecretBytes(count: count) { buffer in
            #expect(buffer.count == count)
            #expect(unsafe buffer.allSatisfy { $0 == 0 })
            for index in buffer.indices { unsafe buffer[index] = UInt8(truncatingIfNeeded: index &* 7 &+ 1) }
        }
        #expect(secret.count == count)
        unsafe secret.withUnsafeBytes { bytes in
            #expect(bytes.count == count)
            #expect(unsafe bytes.enumerated().allSatisfy { $1 == UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) })
        }
    }

    @Test(
        "sizes outside the limits are refused before anything is allocated",
        arguments: [-1, Int.min, 1 << 20 + 1, .max]
    )
    func limits(count: Int) {
        #expect { unsafe try SecretBytes(count: count) { _ in Issue.record("the closure ran") } } throws: { error in
            (error as? SecretMemoryError)?.code == .invalidCount
        }
        #expect(throws: SecretMemoryError.self) { try SecretBytes.random(count: count) }
    }

    @Test("an error of the closure passes through")
    func closureError() {
        struct Refusal: Error, Equatable {}
        #expect(throws: Refusal()) { unsafe try SecretBytes(count: 32) { _ in throw Refusal() } }
        #expect(throws: Refusal()) {
            let secret = try SecretBytes.random(count: 32)
            unsafe try secret.withUnsafeBytes { _ throws(Refusal) in throw Refusal() }
        }
    }

    @Test("random secrets differ, and no byte position is constant")
    func random() throws {
        let secrets = try (0..<64).map { _ in try SecretBytes.random(count: 32) }
        for (index, secret) in secrets.enumerated() {
            #expect(!secrets[(index + 1)...].contains(secret))
        }
        // A constant position would show in 64 draws unless it is one chance in 2^504.
        for position in 0..<32 {
            let values = Set(secrets.map { unsafe $0.withUnsafeBytes { unsafe $0[position] } })
            #expect(values.count > 1)
        }
    }

    @Test("equality looks at every byte and at the size")
    func equality() throws {
        func secret(_ bytes: [UInt8]) throws -> SecretBytes {
            unsafe try SecretBytes(count: bytes.count) { unsafe $0.copyBytes(from: bytes) }
        }
        let bytes = Array(UInt8(0)..<32)
        #expect(try secret(bytes) == secret(bytes))
        #expect(try secret([]) == secret([]))
        #expect(try secret(bytes) != secret(Array(bytes.dropLast())))
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 0x80
            #expect(try secret(bytes) != secret(other))
        }
    }
}
