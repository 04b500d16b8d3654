#if SecretService && KernelKeyring && TPM
import Dispatch
import Foundation
import KernelKeyringKeys
import MemorySearch
import SecretMemory
import SecretServiceKeys
import StoreKeys
import TPMKeys
import Testing

/// Each in a process of its own: one looks at all of its memory, the other at all of its threads.
@Suite("What the platform's key stores do to the process")
struct ProcessTests {
    @Test("of the secrets, nothing is left in memory that the service or the kernel keep")
    func memory() async {
        await #expect(processExitsWith: .success) {
            let session = try await SecretServiceSession()
            try await expectNoTraces(of: session.unlocker())
            try await expectNoTraces(of: KernelKeyringUnlocker(timeToLive: 600))
        }
    }

    @Test("of a secret that a TPM has sealed, nothing is left")
    func memoryOfTPM() async {
        await #expect(processExitsWith: .success) {
            let tpm = try await SoftwareTPM(in: TestFolder())
            try await expectNoTraces(of: tpm.unlocker)
        }
    }

    @Test("while their services hang, the threads of the cooperative pool are free")
    func pool() async {
        await #expect(processExitsWith: .success) {
            // A pool without a thread left would end no test.
            DispatchQueue.global().asyncAfter(deadline: .now() + 60) { exit(EXIT_FAILURE) }
            let folder = try TestFolder()
            let silent = try SilentSocket(folder.path("silent"))
            let control = try SilentSocket(folder.path("silent.ctrl"))
            let store = try await TestStore(KernelKeyringUnlocker(timeToLive: 600))
            let unlockers: [any StoreUnlocker] = [
                SecretServiceUnlocker(busAddress: "unix:path=\(silent.path)"),
                TPMUnlocker(transport: "swtpm:path=\(silent.path)"),
            ]
            for unlocker in unlockers {
                for _ in 0...ProcessInfo.processInfo.activeProcessorCount {
                    Task { _ = try await unlocker.enroll(storeID: store.created.storeID) }
                    _ = await silent.accept()
                }
            }
            // Each of these needs a thread of the pool.
            for _ in 0..<100 { await Task.detached { await Task.yield() }.value }
            withExtendedLifetime(control) {}
        }
    }
}

/// Enrolls and asks for the secret: as long as it is held, it is in one place, and then in none.
private func expectNoTraces(of unlocker: any StoreUnlocker) async throws {
    let scan = try MemoryScan()
    let store = try await TestStore(unlocker)
    do {
        let enrollment = try await unlocker.enroll(storeID: store.created.storeID)
        scan.look(for: "the secret", enrollment.secret)
        // What one call leaves, the next one may overwrite or not: it is looked for behind each.
        let findings = try scan.findings()
        #expect(findings.count == 1, "\(unlocker.slotKind), made: \(findings)")
        withExtendedLifetime(enrollment) {}
    }
    #expect(try scan.findings() == [], "\(unlocker.slotKind), made and let go")
    do {
        let secret = try await unlocker.secret(of: store.slot, storeID: store.created.storeID)
        scan.look(for: "the store's secret", secret)
        let findings = try scan.findings()
        #expect(findings.count == 1, "\(unlocker.slotKind), asked for: \(findings)")
        withExtendedLifetime(secret) {}
    }
    #expect(try scan.findings() == [], "\(unlocker.slotKind), asked for and let go")
}
#endif
