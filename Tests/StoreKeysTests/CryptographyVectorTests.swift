import SecretMemory
import SeededNumbers
import Testing

@testable import StoreKeys

@Suite("Published vectors")
struct CryptographyVectorTests {
    @Test(
        "scrypt, RFC 7914 section 12; the vector that takes a gigabyte only when everything is tried",
        arguments: ([
            (
                "", "", 4, 1, 1,
                """
                77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442
                fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906
                """
            ),
            (
                "password", "NaCl", 10, 8, 16,
                """
                fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162
                2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640
                """
            ),
            (
                "pleaseletmein", "SodiumChloride", 14, 8, 1,
                """
                7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2
                d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887
                """
            ),
            (
                "pleaseletmein", "SodiumChloride", 20, 8, 1,
                """
                2101cb9b6a511aaeaddbbe09cf70f881ec568d574a2ffd4dabe5ee9820adaa47
                8e56fd8f4ba5d09ffa1c6d927c40f4c337304049e8a952fbcbf45c6fa77a41a4
                """
            ),
        ] as [(String, String, Int, Int, Int, String)])
        .filter { $0.2 <= SeededGenerator.rounds(14, all: 20) }
    )
    func scrypt(passphrase: String, salt: String, log2N: Int, r: Int, p: Int, expected: String) async throws {
        let secret = try SecretBytes(text: passphrase)
        let derived = try await BlockingWork.run {
            try Scrypt.deriveKey(
                from: secret,
                salt: Array(salt.utf8),
                cost: .insecureForTests(log2N: log2N, blockSize: r, parallelization: p),
                count: 64
            )
        }
        #expect(derived.revealed == bytes(expected))
    }

    @Test(
        "HKDF with SHA-256, RFC 5869 appendix A",
        arguments: [
            (
                [UInt8](repeating: 0x0b, count: 22), Array(UInt8(0)...0x0c), Array(UInt8(0xf0)...0xf9),
                """
                3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf
                34007208d5b887185865
                """
            ),
            (
                Array(UInt8(0)...0x4f), Array(UInt8(0x60)...0xaf), Array(UInt8(0xb0)...0xff),
                """
                b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c
                59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71
                cc30c58179ec3e87c14c01d5c1f3434f1d87
                """
            ),
            (
                [UInt8](repeating: 0x0b, count: 22), [], [],
                """
                8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d
                9d201395faa4b61a96c8
                """
            ),
        ] as [([UInt8], [UInt8], [UInt8], String)]
    )
    func hkdf(secret: [UInt8], salt: [UInt8], info: [UInt8], expected: String) throws {
        let expected = bytes(expected)
        let derived = try HKDF.deriveKey(
            from: SecretBytes(bytes: secret),
            salt: salt,
            info: info,
            count: expected.count
        )
        #expect(derived.revealed == expected)
    }

    @Test(
        "AES-256-GCM, test case 16 of the mode's specification (SP 800-38D), both ways and with every bit that counts"
    )
    func gcm() throws {
        let key = try SecretBytes(bytes: bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
        let nonce = bytes("cafebabefacedbaddecaf888")
        let plaintext = bytes(
            """
            d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
            1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
            """
        )
        let associatedData = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        let expected = bytes(
            """
            522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
            8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662
            76fc6ece0f4e1768cddf8853bb2d551b
            """
        )
        let sealed = try AES256GCM.seal(
            SecretBytes(bytes: plaintext),
            key: key,
            nonce: nonce,
            associatedData: associatedData
        )
        #expect(sealed == expected)

        func open(_ sealed: [UInt8], _ nonce: [UInt8], _ associatedData: [UInt8]) throws -> [UInt8]? {
            try AES256GCM.open(sealed, key: key, nonce: nonce, associatedData: associatedData)?.revealed
        }
        func flips(of bytes: [UInt8]) -> [[UInt8]] {
            bytes.indices.map { index in
                var flipped = bytes
                flipped[index] ^= 1
                return flipped
            }
        }
        #expect(try open(sealed, nonce, associatedData) == plaintext)
        for flipped in flips(of: sealed) { #expect(try open(flipped, nonce, associatedData) == nil) }
        for flipped in flips(of: nonce) { #expect(try open(sealed, flipped, associatedData) == nil) }
        for flipped in flips(of: associatedData) { #expect(try open(sealed, nonce, flipped) == nil) }
        for count in 0..<sealed.count { #expect(try open(Array(sealed.prefix(count)), nonce, associatedData) == nil) }
    }

    @Test("SHA-256 of FIPS 180-4, and HMAC-SHA256 of RFC 4231, test case 2")
    func hashes() throws {
        #expect(
            try SHA256.hash(Array("abc".utf8))
                == bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        )
        #expect(
            try SHA256.authenticationCode(
                for: Array("what do ya want for nothing?".utf8),
                key: SecretBytes(text: "Jefe")
            ) == bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        )
        #expect(SHA256.areEqual([1, 2], [1, 2]))
        #expect(!SHA256.areEqual([1, 2], [1, 3]))
        #expect(!SHA256.areEqual([1, 2], [1, 2, 3]))
    }
}
