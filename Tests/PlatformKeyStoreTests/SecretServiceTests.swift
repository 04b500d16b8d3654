#if SecretService && KernelKeyring && TPM
import ChildProcesses
import Foundation
import SecretMemory
import SecretServiceKeys
import StoreKeys
import Testing

@Suite("A slot whose secret the Secret Service keeps")
struct SecretServiceTests {
    private let session: SecretServiceSession

    init() async throws { session = try await SecretServiceSession() }

    @Test("opens the store, also after the service was started anew, and as long as the item is there")
    func opening() async throws {
        let unlocker = session.unlocker(label: "desktop")
        let store = try await TestStore(unlocker)
        #expect(store.slot.kind == .secretService && store.slot.label == "desktop")
        #expect(try await session.itemCount() == 1)
        #expect(try await store.opens(with: unlocker))
        try await session.stopDaemon()
        let gone = await keyError { _ = try await store.open(unlocker) }
        #expect(gone?.code == .secretUnavailable && gone?.message.contains("cannot be reached") == true)
        try await session.startDaemon()
        #expect(try await store.opens(with: unlocker))
        #expect(try await store.opens(with: session.unlocker(mayPrompt: false)))

        try await unlocker.forget(store.slot, storeID: store.created.storeID)
        #expect(try await session.itemCount() == 0)
        let missing = await keyError { _ = try await store.open(unlocker) }
        #expect(missing?.code == .secretUnavailable && missing?.message.contains("no item") == true)
        try await unlocker.forget(store.slot, storeID: store.created.storeID)
        #expect(try await store.opens(with: store.file), "what else opens the store still does")
    }

    @Test("is not opened by the item of another store or slot, and the stores do not disturb each other")
    func otherStores() async throws {
        let unlocker = session.unlocker()
        let (one, other) = (try await TestStore(unlocker), try await TestStore(unlocker))
        #expect(try await session.itemCount() == 2)
        #expect(try await one.opens(with: unlocker))
        #expect(try await other.opens(with: unlocker))
        for (slot, storeID) in [(one.slot, other.created.storeID), (other.slot, one.created.storeID)] {
            let error = await keyError { _ = try await unlocker.secret(of: slot, storeID: storeID) }
            #expect(error?.code == .secretUnavailable && error?.message.contains("no item") == true)
        }
        for parameters in [[], [UInt8](repeating: 0, count: 15), [UInt8](repeating: 0, count: 8192)] {
            let crafted = try slot(.secretService, parameters)
            let error = await keyError { _ = try await unlocker.secret(of: crafted, storeID: one.created.storeID) }
            #expect(error?.code == .invalidParameters)
        }
    }

    @Test("stays closed while the collection is locked, whether nobody may be asked or nobody answers")
    func locked() async throws {
        let store = try await TestStore(session.unlocker())
        try await session.lock()
        let watch = try await session.watchPrompts()
        try await expectClosed(store, mayPrompt: false, because: "asking is not allowed")
        try await session.lock()
        try await expectClosed(store, mayPrompt: true, because: "nobody unlocked it")
        let asked = try #require(await watch.output(contains: "member=Prompt"))
        let between = try #require(await watch.output(contains: "member=Lock"))
        #expect(between < asked, "nobody was asked before")
    }

    private func expectClosed(_ store: TestStore, mayPrompt: Bool, because reason: String) async throws {
        let unlocker = session.unlocker(mayPrompt: mayPrompt)
        let before = try Data(contentsOf: store.keyslots.url)
        let storeID = store.created.storeID
        let attempts: [() async throws -> Void] = [
            { _ = try await store.open(unlocker) },
            { try await store.keyslots.add(unlocker, authorizedBy: store.file) },
        ]
        for attempt in attempts {
            let error = await keyError(attempt)
            #expect(
                error?.code == .secretUnavailable && error?.message.contains(reason) == true,
                "\(error?.message ?? "no error")"
            )
        }
        if !mayPrompt {
            let error = await keyError { try await unlocker.forget(store.slot, storeID: storeID) }
            #expect(error?.code == .secretUnavailable)
        }
        #expect(try Data(contentsOf: store.keyslots.url) == before)
    }

    @Test("a bus that nobody serves is told, and a call that waits ends when its task is cancelled")
    func cancellation() async throws {
        let storeID = try await TestStore(session.unlocker()).created.storeID
        let none = SecretServiceUnlocker(busAddress: "unix:path=\(session.folder.path("none"))")
        #expect(await keyError { _ = try await none.enroll(storeID: storeID) }?.code == .secretUnavailable)

        let silent = try SilentSocket(session.folder.path("silent"))
        let unlocker = SecretServiceUnlocker(busAddress: "unix:path=\(silent.path)")
        let slot = try slot(.secretService, [UInt8](repeating: 0, count: 16))
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await unlocker.enroll(storeID: storeID) },
            { _ = try await unlocker.secret(of: slot, storeID: storeID) },
            { try await unlocker.forget(slot, storeID: storeID) },
        ]
        for call in calls {
            let task = Task { try await call() }
            let connection = await silent.accept()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            close(connection)
        }
    }
}
#endif
