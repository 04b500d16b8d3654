import Foundation
import SecretMemory
import Testing

@testable import StoreKeys

// Re-encryptions of the database that fail, or are interrupted.
extension RevocationTests {
    @Test(
        "without the commit a failed re-encryption changes nothing; after it the old data key is overdue until rotated"
    )
    func failure() async throws {
        struct Refusal: Error {}
        let before = try bytes
        await #expect(throws: Refusal.self) {
            _ = try await revoke([1], keeping: [file, other]) { _, _, _ in throw Refusal() }
        }
        #expect(try bytes == before)

        let replacement = try PassphraseUnlocker.quick("new")
        await #expect(throws: Refusal.self) {
            _ = try await revoke([1], keeping: [file, other], replacement: replacement) { _, _, commit in
                try commit()
                throw Refusal()
            }
        }
        let recovered = try await keyslots.recoverRotation(
            authorizedBy: replacement,
            isEncryptedWith: { try $0 == created.dataKey }
        )
        #expect(try recovered.dataKey == created.dataKey)
        #expect(try recovered.pendingDataKey == nil)
        #expect(recovered.isRotationOverdue)
        #expect(recovered.dataKeyCreated == created.dataKeyCreated, "the age is known all the same")
        let interrupted = try await KeyslotFile.read(at: folder.keyslots)
        #expect(interrupted.isRotationOverdue && !interrupted.isRotationPending)
        #expect(KeyAgePolicy.standard.report(on: interrupted).isDataKeyRotationDue)
        #expect(KeyAgePolicy.standard.report(on: interrupted).dataKeyAge < 1_000)
        #expect(await keyErrorCode { _ = try await opens(leaked) } == .wrongSecret)

        // It stays so whatever is done to the slots, and ends with any rotation.
        try await keyslots.renewRootKey(keeping: [file, other])
        #expect(try await opens(file).isRotationOverdue)
        let rotated = try await keyslots.rotateDataKey(authorizedBy: file) { _, _ in }
        #expect(!rotated.isRotationOverdue)
        #expect(try await !KeyslotFile.read(at: folder.keyslots).isRotationOverdue)
    }

    @Test("a recovery may finish what a kill after the commit has left; when that fails both keys are kept")
    func finishing() async throws {
        struct Refusal: Error {}
        var database = try created.dataKey
        await #expect(throws: Refusal.self) {
            _ = try await revoke([1], keeping: [file, other]) { _, _, commit in
                try commit()
                throw Refusal()
            }
        }
        await #expect(throws: Refusal.self) {
            _ = try await keyslots.recoverRotation(
                authorizedBy: file,
                isEncryptedWith: { $0 == database },
                finish: { _, _ in throw Refusal() }
            )
        }
        #expect(try await KeyslotFile.read(at: folder.keyslots).isRotationPending)
        let recovered = try await keyslots.recoverRotation(
            authorizedBy: file,
            isEncryptedWith: { $0 == database },
            finish: { from, to in
                #expect(from == database)
                database = to
            }
        )
        #expect(try recovered.dataKey == database)
        #expect(!recovered.isRotationOverdue)
        #expect(try recovered.pendingDataKey == nil)

        // Of a rotation of the data key alone there is nothing to finish: the old key is as good as it was.
        await #expect(throws: Refusal.self) {
            _ = try await keyslots.rotateDataKey(authorizedBy: file) { _, _ in throw Refusal() }
        }
        let undone = try await keyslots.recoverRotation(
            authorizedBy: file,
            isEncryptedWith: { $0 == database },
            finish: { _, _ in Issue.record("finished") }
        )
        #expect(try undone.dataKey == database)
    }

    @Test(
        "a rotation that was interrupted before is settled by the database, and its key is never used",
        arguments: [false, true]
    )
    func interruptedBefore(databaseIsNew: Bool) async throws {
        struct Refusal: Error {}
        var offered: SecretBytes?
        await #expect(throws: Refusal.self) {
            _ = try await keyslots.rotateDataKey(authorizedBy: file) { _, pending in
                offered = pending
                throw Refusal()
            }
        }
        let database = databaseIsNew ? try #require(offered) : try created.dataKey
        let rotation = try await keyslots.rotateKeys(
            keeping: [file, leaked, other],
            isEncryptedWith: { $0 == database },
            reencrypt: { from, to, commit in
                #expect(from == database)
                #expect(to != offered)
                try commit()
                let begun = try await opens(file)
                #expect(try begun.dataKey == database)
                #expect(try begun.pendingDataKey == to)
            }
        )
        #expect(try rotation.keyring.dataKey != offered)
        #expect(try await opens(other).dataKey == rotation.keyring.dataKey)
    }

    @Test("a cancelled task ends a rotation whose database has changed, and one that forgot to commit loses no key")
    func cancellation() async throws {
        let (keyslots, unlockers) = (keyslots, [file, leaked, other] as [any StoreUnlocker])
        for commits in [true, false] {
            let task = Task {
                try await keyslots.rotateKeys(
                    keeping: unlockers,
                    isEncryptedWith: { _ in true },
                    reencrypt: { _, _, commit in
                        if commits { try commit() }
                        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    }
                )
            }
            let keyring = try await task.value.keyring
            #expect(try await opens(file).dataKey == keyring.dataKey)
            #expect(try await !KeyslotFile.read(at: folder.keyslots).isRotationPending)
        }
    }
}
