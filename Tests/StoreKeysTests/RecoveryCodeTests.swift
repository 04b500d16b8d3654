import Foundation
import SecretMemory
import SeededNumbers
import Testing

@testable import StoreKeys

@Suite("Recovery codes")
struct RecoveryCodeTests {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    private func typed(_ bytes: [UInt8]) async -> KeyError.Code? {
        await keyErrorCode { _ = try RecoveryCode(typed: SecretBytes(bytes: bytes)) }
    }

    @Test("a code is seven groups of four characters, and no two are alike")
    func shape() throws {
        let codes = try (0..<100).map { _ in try RecoveryCode.random().text.revealed }
        for code in codes {
            let groups = code.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            #expect(groups.map(\.count) == Array(repeating: 4, count: 7))
            #expect(groups.joined().allSatisfy(Self.alphabet.contains))
        }
        #expect(Set(codes).count == codes.count)
    }

    @Test("what is printed is understood as it is typed: small letters, look-alikes, spaces or no hyphens")
    func typing() async throws {
        // 26 random bytes of 0 and 1 make a code with characters that have look-alikes.
        let code = try RecoveryCode(randomBytes: SecretBytes(bytes: (0..<26).map { UInt8($0 % 2) }))
        let text = try #require(String(validating: code.text.revealed, as: UTF8.self))
        #expect(text.hasPrefix("0101-0101-0101-0101-0101-0101-01"))
        for variant in [
            text, text.lowercased(), text.replacing("-", with: ""), text.replacing("-", with: " "), " \(text)\r\n",
            text.replacing("0", with: "O"), text.replacing("0", with: "o"), text.replacing("1", with: "I"),
            text.replacing("1", with: "l"), text.replacing("1", with: "i"), text.replacing("1", with: "L"),
        ] {
            let read = try RecoveryCode(typed: SecretBytes(text: variant))
            #expect(read.text == code.text, "\(variant)")
            #expect(read.characters == code.characters)
        }
    }

    @Test("any wrong character, any two that changed places, and any missing or additional one are typing errors")
    func typingErrors() async throws {
        let code = try RecoveryCode.random().characters.revealed
        #expect(await typed(code) == nil)
        for index in code.indices {
            for character in Self.alphabet + Array("U*\u{7F}".utf8) + [0, 0xFF] where character != code[index] {
                var wrong = code
                wrong[index] = character
                #expect(await typed(wrong) == .mistypedRecoveryCode, "\(index)")
            }
            var without = code
            without.remove(at: index)
            #expect(await typed(without) == .mistypedRecoveryCode)
            var with = code
            with.insert(code[index], at: index)
            #expect(await typed(with) == .mistypedRecoveryCode)
            for other in code.indices where other != index && code[other] != code[index] {
                var swapped = code
                swapped.swapAt(index, other)
                #expect(await typed(swapped) == .mistypedRecoveryCode, "\(index) and \(other)")
            }
        }
        for other in [[], Array("0000".utf8), Array(repeating: UInt8(ascii: " "), count: 300)] {
            #expect(await typed(other) == .mistypedRecoveryCode)
        }
    }

    @Test("any two wrong characters are a typing error")
    func twoErrors() async throws {
        let code = try RecoveryCode.random().characters.revealed
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            var wrong = code
            let places = code.indices.shuffled(using: &random).prefix(2)
            for place in places {
                wrong[place] = Self.alphabet.filter { $0 != code[place] }.randomElement(using: &random)!
            }
            #expect(await typed(wrong) == .mistypedRecoveryCode, "seed \(seed)")
        }
    }

    @Test("a code opens the store it was made for, and another one is a wrong secret, not a typing error")
    func unlocking() async throws {
        let folder = try TemporaryFolder()
        let file = SecretFileUnlocker(at: folder.secretFile)
        let created = try await StoreKeyring.create(at: folder.keyslots, unlocker: file)
        let code = try RecoveryCode.random()
        let slot = try await Keyslots(folder.keyslots)
            .add(RecoveryCodeUnlocker(code, label: "paper"), authorizedBy: file)
        #expect(slot.kind.description == "recovery-code")
        #expect(slot.parameters == [])
        let typed = try RecoveryCode(typed: code.text)
        let opened = try await StoreKeyring.open(at: folder.keyslots, unlocker: RecoveryCodeUnlocker(typed))
        #expect(try opened.dataKey == created.dataKey)
        let other = RecoveryCodeUnlocker(try .random())
        let answer = await keyErrorCode { _ = try await StoreKeyring.open(at: folder.keyslots, unlocker: other) }
        #expect(answer == .wrongSecret)
        let unlocker = RecoveryCodeUnlocker(code)
        #expect(!"\(code)\(unlocker)".utf8.contains(contentsOf: code.text.revealed))
    }
}

extension Collection where Element: Equatable {
    fileprivate func contains(contentsOf other: some Collection<Element>) -> Bool {
        indices.contains { self[$0...].starts(with: other) }
    }
}
