import Foundation
import SecretMemory
import SeededNumbers
import Testing

@testable import StoreKeys

/// A file with one slot of each kind and a pending data key, and everything that can happen to its bytes.
@Suite("Damage to a keyslot file")
struct DamageTests {
    private let folder: TemporaryFolder
    private let bytes: [UInt8]
    private let dataKey: SecretBytes
    private let unlocker: SecretFileUnlocker

    init() async throws {
        folder = try TemporaryFolder()
        unlocker = SecretFileUnlocker(at: folder.secretFile)
        let storeID = try RandomSource.system.makeIdentifier()
        let passphrase = try PassphraseUnlocker.quick("passphrase", label: "the second")
        dataKey = try .random(count: 32)
        let slots = [
            NewSlot(kind: .secretFile, label: "a label", enrollment: try await unlocker.enroll(storeID: storeID)),
            NewSlot(kind: .passphrase, label: "", enrollment: try await passphrase.enroll(storeID: storeID)),
        ]
        bytes = try KeyslotFile(
            sealing: .random(count: 32),
            dataKey: dataKey,
            pendingDataKey: .random(count: 32),
            storeID: storeID,
            slots: slots,
            createdMilliseconds: 1_700_000_000_000,
            random: .system
        )
        .encoded()
    }

    private enum Answer: Equatable {
        case opened(sameKey: Bool)
        case refused(KeyError.Code)
        case other(String)
    }

    private func answer(to bytes: [UInt8]) async throws -> Answer {
        try write(bytes, to: folder.keyslots)
        do {
            let keyring = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker)
            return .opened(sameKey: try keyring.dataKey == dataKey)
        } catch let error as KeyError {
            return .refused(error.code)
        } catch {
            return .other("\(error)")
        }
    }

    private func withAdjustedChecksum(_ bytes: [UInt8]) throws -> [UInt8] {
        let content = Array(bytes.dropLast(32))
        return try content + SHA256.hash(content)
    }

    @Test("the file as written opens")
    func intact() async throws {
        #expect(try await answer(to: bytes) == .opened(sameKey: true))
        #expect(try withAdjustedChecksum(bytes) == bytes)
    }

    @Test("any flipped byte is damage, and said to be damage", arguments: [UInt8(0x01), 0x80, 0xFF])
    func flipped(mask: UInt8) async throws {
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= mask
            let answer = try await answer(to: damaged)
            #expect(answer == .refused(.damagedFile), "byte \(index)")
        }
    }

    @Test("any flipped byte under an adjusted checksum is refused too", arguments: [UInt8(0x01), 0x80, 0xFF])
    func flippedOnPurpose(mask: UInt8) async throws {
        var codes: [KeyError.Code: Int] = [:]
        for index in bytes.indices.dropLast(32) {
            var altered = bytes
            altered[index] ^= mask
            let answer = try await answer(to: withAdjustedChecksum(altered))
            guard case .refused(let code) = answer else {
                Issue.record("byte \(index): \(answer)")
                continue
            }
            codes[code, default: 0] += 1
        }
        // Only the secret shows that something was altered: wrong secret, and nothing else tells that it is right. What
        // shows without it: damage, a newer format, no slot of this kind.
        #expect(codes.keys.contains(.wrongSecret))
        #expect(codes.keys.contains(.damagedFile))
        #expect(codes.keys.contains(.newerFormat))
        #expect(Set(codes.keys).isSubset(of: [.wrongSecret, .damagedFile, .newerFormat, .secretUnavailable]))
    }

    @Test("any shorter file is damage, with its checksum adjusted or not")
    func truncated() async throws {
        for count in 0..<bytes.count {
            #expect(try await answer(to: Array(bytes.prefix(count))) == .refused(.damagedFile), "\(count) bytes")
        }
        for count in 32..<bytes.count {
            let answer = try await answer(to: withAdjustedChecksum(Array(bytes.prefix(count))))
            #expect(answer == .refused(.damagedFile), "\(count) bytes")
        }
    }

    @Test("any longer file is damage, with its checksum adjusted or not")
    func extended() async throws {
        for count in [1, 31, 32, 33, 1000] {
            let more = [UInt8](repeating: 0, count: count)
            #expect(try await answer(to: bytes + more) == .refused(.damagedFile))
            #expect(try await answer(to: withAdjustedChecksum(bytes + more)) == .refused(.damagedFile))
        }
    }

    @Test("random bytes behind a right beginning and checksum are refused")
    func randomContent() async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        for round in 0..<500 {
            var content = Array(bytes.prefix(34 + round % 40))
            content += (0..<100 + round).map { _ in UInt8.random(in: 0...255, using: &random) }
            let answer = try await answer(to: content + SHA256.hash(content))
            guard case .refused = answer else {
                Issue.record("seed \(seed), round \(round): \(answer)")
                return
            }
        }
    }

    @Test("a file above one mebibyte is refused without being read")
    func tooLarge() async throws {
        // A sparse file: reading its terabyte would not end.
        try write([], to: folder.keyslots)
        let handle = try FileHandle(forWritingTo: folder.keyslots)
        try handle.truncate(atOffset: 1 << 40)
        try handle.close()
        #expect(
            await keyErrorCode { _ = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker) }
                == .damagedFile
        )
    }

    @Test("a later format with a right checksum is newerFormat, and format 0 is damage")
    func formats() async throws {
        var later = bytes
        later[8...9] = [0, 2]
        #expect(try await answer(to: withAdjustedChecksum(later)) == .refused(.newerFormat))
        later[8...9] = [0xFF, 0xFF]
        #expect(
            try await answer(to: withAdjustedChecksum(Array(later.prefix(10)) + [1, 2, 3] + later.suffix(32)))
                == .refused(.newerFormat)
        )
        later[8...9] = [0, 0]
        #expect(try await answer(to: withAdjustedChecksum(later)) == .refused(.damagedFile))
    }

    @Test("slots cannot be moved between the files of two stores, nor exchanged within one")
    func transplanted() async throws {
        let other = folder.url.appending(path: "other.keyslots")
        _ = try await StoreKeyring.create(at: other, unlocker: unlocker)
        let foreign = try KeyslotFile(decoding: Array(Data(contentsOf: other)))
        let own = try KeyslotFile(decoding: bytes)

        func assembled(_ slots: [Keyslot], _ dataKeys: [WrappedDataKey]) throws -> [UInt8] {
            let content = KeyslotFile.authenticatedBytes(
                storeID: own.storeID,
                revision: own.revision,
                slots: slots,
                dataKeys: dataKeys
            )
            return try withAdjustedChecksum(content + own.authenticationCode + [UInt8](repeating: 0, count: 32))
        }
        #expect(try assembled(own.slots, own.dataKeys) == bytes)
        #expect(try await answer(to: assembled(foreign.slots, own.dataKeys)) == .refused(.wrongSecret))
        #expect(try await answer(to: assembled(own.slots, foreign.dataKeys)) == .refused(.wrongSecret))
        #expect(try await answer(to: assembled(own.slots.reversed(), own.dataKeys)) == .refused(.wrongSecret))
        #expect(try await answer(to: assembled([own.slots[0]], own.dataKeys)) == .refused(.wrongSecret))
        #expect(
            try await answer(to: assembled([own.slots[0], own.slots[0]], own.dataKeys)) == .refused(.damagedFile)
        )
        #expect(try await answer(to: assembled(own.slots, [own.dataKeys[0]])) == .refused(.wrongSecret))
    }

    @Test("a pending data key is opened along with the current one")
    func pending() async throws {
        try write(bytes, to: folder.keyslots)
        let keyring = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker)
        #expect(try keyring.pendingDataKey != nil)
        #expect(try keyring.pendingDataKey != keyring.dataKey)
        #expect(keyring.dataKeyCreated == Date(timeIntervalSince1970: 1_700_000_000))
    }
}
