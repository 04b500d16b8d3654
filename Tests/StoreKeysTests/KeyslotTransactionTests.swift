import DurableFiles
import Foundation
import SecretMemory
import Synchronization
import Testing

@testable import StoreKeys

@Suite("A change of a keyslot file while it waits for the medium")
struct KeyslotTransactionTests {
    private final class Box: Sendable {
        let transaction = Mutex<KeyslotTransaction?>(nil)
        let seen = Mutex<[UInt64]>([])
    }

    @Test("lets its content be read at every step, and refuses a second write until the first has ended")
    func noWaiting() async throws {
        let folder = try TemporaryFolder()
        let file = SecretFileUnlocker(at: folder.secretFile)
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: file)
        let box = Box()
        let transaction = try KeyslotTransaction(
            PrivateFile(
                folder.keyslots,
                role: "keyslot file",
                in: FileSystem { _ in
                    guard let transaction = box.transaction.withLock({ $0 }) else { return }
                    box.seen.withLock { $0.append(transaction.content.revision) }
                    #expect {
                        try transaction.writeBlocking(transaction.content)
                    } throws: {
                        ($0 as? KeyError)?.code == .inUse
                    }
                }
            ),
            random: .system
        )
        box.transaction.withLock { $0 = transaction }
        let rootKey = try await transaction.content.openSlot(with: file).rootKey
        for revision in 2...3 as ClosedRange<UInt64> {
            let next = try transaction.content.replacingSlots(transaction.content.slots, rootKey: rootKey)
            try await transaction.write(next)
            #expect(transaction.content.revision == revision)
            #expect(try await KeyslotFile.read(at: folder.keyslots).revision == revision)
        }
        let steps = 5
        #expect(box.seen.withLock { $0 } == Array(repeating: 1, count: steps) + Array(repeating: 2, count: steps))
        box.transaction.withLock { $0 = nil }
    }
}
