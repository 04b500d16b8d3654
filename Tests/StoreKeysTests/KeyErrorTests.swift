import Foundation
import SecretMemory
import Synchronization
import Testing

@testable import StoreKeys

@Suite("Errors and wiping")
struct KeyErrorTests {
    @Test("a description gives code, message and cause")
    func description() {
        let cause = KeyError(.inputOutput, "The disk is full.")
        let error = KeyError(.damagedFile, "Restore it.", cause: cause)
        #expect(error.description == "damagedFile: Restore it. (inputOutput: The disk is full.)")
        #expect(error.code == .damagedFile)
        #expect(error.code != .inputOutput)
    }

    @Test("a missing file is named, with what the system said")
    func missingFile() async throws {
        let folder = try TemporaryFolder()
        do {
            _ = try await KeyslotFile.read(at: folder.keyslots)
            Issue.record("a file that is not there was read")
        } catch let error as KeyError {
            #expect(error.message.contains("keyslot file"))
            #expect(error.message.contains(folder.keyslots.path()))
            #expect("\(error)".contains("errno \(ENOENT)"))
        }
    }

    @Test("opening wipes all it derived and unwrapped on the way, and leaves the data key")
    func wiping() async throws {
        let folder = try TemporaryFolder()
        let unlocker = SecretFileUnlocker(at: folder.secretFile)
        let created = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker)
        let wipes = Wipes()
        let observe = { @Sendable (pages: [UInt8]) in
            let isZero = pages.allSatisfy { $0 == 0 }
            wipes.zeroed.withLock { $0.append(isZero) }
        }
        let opened = try await WipeObservation.$observer.withValue(observe) {
            try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker)
        }
        // The slot's secret, its wrapping key, the root key, the authentication key of each of two verifications, and the
        // data keys' wrapping key.
        let count = 6
        #expect(wipes.zeroed.withLock { $0 } == Array(repeating: true, count: count))
        #expect(try opened.dataKey == created.dataKey)
    }

    private final class Wipes: Sendable {
        let zeroed = Mutex<[Bool]>([])
    }
}
