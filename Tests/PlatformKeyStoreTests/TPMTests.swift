#if SecretService && KernelKeyring && TPM
import Foundation
import SecretMemory
import StoreKeys
import TPMKeys
import Testing

@Suite("A slot whose secret a TPM has sealed")
struct TPMTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("opens the store, also after the TPM was turned off and on, and not while it is off")
    func opening() async throws {
        let tpm = try await SoftwareTPM(in: folder)
        let unlocker = tpm.unlocker
        let store = try await TestStore(unlocker)
        #expect(store.slot.kind == .tpm && store.slot.label == "TPM")
        #expect(store.slot.parameters.count < 1024)
        // More often than a TPM has room for objects and sessions.
        for _ in 0..<5 { #expect(try await store.opens(with: unlocker)) }
        try await tpm.stop()
        let error = await keyError { _ = try await store.open(unlocker) }
        #expect(error?.code == .secretUnavailable && error?.message.contains("There is no TPM") == true)
        #expect(try await store.opens(with: store.file))
        let again = try await SoftwareTPM(in: folder)
        #expect(try await store.opens(with: again.unlocker))
    }

    @Test("is not opened by another TPM, which is what the same one is after it was cleared")
    func otherTPM() async throws {
        let (tpm, other) = (try await SoftwareTPM(in: folder), try await SoftwareTPM(in: TestFolder()))
        let store = try await TestStore(tpm.unlocker)
        let error = await keyError { _ = try await store.open(other.unlocker) }
        #expect(error?.code == .wrongSecret && error?.message.contains("cleared") == true)
        #expect(try await store.opens(with: tpm.unlocker))

        let slot = try await store.keyslots.replace(
            store.slot.id,
            with: other.unlocker,
            authorizedBy: store.file
        )
        #expect(try await store.opens(with: other.unlocker))
        #expect(await keyError { _ = try await store.open(tpm.unlocker) }?.code == .wrongSecret)
        #expect(slot.label == "TPM")
    }

    @Test("has a secret of its own, and what is no sealed secret is told before the TPM is asked")
    func otherStores() async throws {
        let unlocker = try await SoftwareTPM(in: folder).unlocker
        let tpm = try await SoftwareTPM(in: TestFolder())
        let (one, other) = (try await TestStore(tpm.unlocker), try await TestStore(tpm.unlocker))
        #expect(try await one.opens(with: tpm.unlocker))
        #expect(try await other.opens(with: tpm.unlocker))
        let storeID = one.created.storeID
        let secrets = [
            try await tpm.unlocker.secret(of: one.slot, storeID: storeID),
            try await tpm.unlocker.secret(of: other.slot, storeID: storeID),
        ]
        #expect(secrets[0] != secrets[1])
        let whole = one.slot.parameters
        for parameters in [[], [0], Array(whole.dropLast()), whole + [0], [UInt8](repeating: 0xff, count: 8192)] {
            let crafted = try slot(.tpm, parameters)
            let error = await keyError { _ = try await unlocker.secret(of: crafted, storeID: storeID) }
            #expect(error?.code == .invalidParameters)
        }
        // A changed seal gets as far as the TPM, which does not take it.
        var changed = whole
        changed[whole.count - 1] ^= 1
        let crafted = try slot(.tpm, changed)
        let error = await keyError { _ = try await tpm.unlocker.secret(of: crafted, storeID: storeID) }
        #expect(error?.code == .secretUnavailable && error?.message.contains("refuses") == true)
    }

    @Test("a call that was cancelled before it began does nothing")
    func cancellation() async throws {
        let tpm = try await SoftwareTPM(in: folder)
        let store = try await TestStore(tpm.unlocker)
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            _ = try await store.open(tpm.unlocker)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
#endif
