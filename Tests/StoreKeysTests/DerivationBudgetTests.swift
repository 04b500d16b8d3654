import Foundation
import SecretMemory
import Testing

@testable import StoreKeys

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("The cost of an opening")
struct DerivationBudgetTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func makeFile(_ passphrases: [String]) async throws {
        let unlockers = try passphrases.map { try PassphraseUnlocker.quick($0) }
        _ = try await StoreKeyring.create(at: folder.keyslots, unlockers: unlockers)
    }

    private func open(_ passphrase: String, spending work: Int? = nil) async throws {
        var unlocker = try PassphraseUnlocker.quick(passphrase)
        if let work { unlocker.maximumDerivationWork = work }
        _ = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker)
    }

    @Test("is bounded over all slots that are tried, and an app may raise the bound")
    func bounded() async throws {
        try await makeFile((1...6).map { "\($0)" })
        let work = ScryptCost.quick.work
        #expect(await keyErrorCode { try await open("4", spending: 4 * work) } == nil)
        #expect(await keyErrorCode { try await open("5", spending: 4 * work) } == .invalidParameters)
        #expect(await keyErrorCode { try await open("5", spending: 5 * work) } == nil)
        #expect(await keyErrorCode { try await open("6") } == nil)
    }

    @Test("keeps no cheaper slot behind a dear one from being tried")
    func cheaper() async throws {
        let dear = ScryptCost.insecureForTests(log2N: 10, blockSize: 8, parallelization: 1)
        _ = try await StoreKeyring.create(
            at: folder.keyslots,
            unlockers: [
                PassphraseUnlocker(passphrase: SecretBytes(text: "dear"), cost: dear),
                PassphraseUnlocker.quick("cheap"),
            ]
        )
        #expect(await keyErrorCode { try await open("cheap", spending: ScryptCost.quick.work) } == nil)
        #expect(await keyErrorCode { try await open("dear", spending: ScryptCost.quick.work) } == .invalidParameters)
    }

    @Test("is four times the default's unless the unlocker itself asks for more")
    func standard() throws {
        let passphrase = try SecretBytes(text: "x")
        #expect(PassphraseUnlocker(passphrase: passphrase).maximumDerivationWork == 4 << 20)
        let dear = try ScryptCost(log2N: 20, blockSize: 8, parallelization: 2)
        #expect(PassphraseUnlocker(passphrase: passphrase, cost: dear).maximumDerivationWork == 1 << 24)
        #expect(SecretFileUnlocker(at: folder.secretFile).maximumDerivationWork == 4 << 20)
    }

    @Test("bounds changes of the slots as well")
    func changes() async throws {
        try await makeFile(["1", "2", "3"])
        var unlocker = try PassphraseUnlocker.quick("3")
        unlocker.maximumDerivationWork = 2 * ScryptCost.quick.work
        let keyslots = Keyslots(folder.keyslots)
        #expect(
            await keyErrorCode {
                _ = try await keyslots.add(SecretFileUnlocker(at: folder.secretFile), authorizedBy: unlocker)
            } == .invalidParameters
        )
        let last = try await KeyslotFile.read(at: folder.keyslots).slots[0].id
        #expect(await keyErrorCode { _ = try await keyslots.remove(last, keeping: [unlocker]) } == .invalidParameters)
    }

    /// A passphrase that comes from a pipe, when the test writes it.
    private func makePipe(_ name: String) throws -> URL {
        let pipe = folder.url.appending(path: name)
        #expect(unsafe mkfifo(pipe.path(), 0o600) == 0)
        return pipe
    }

    /// The writer's end of a pipe, which opens when the reader waits at the other one: on a thread of its own, as the reader may
    /// need those of the pool before.
    private static func writer(into pipe: URL) async throws -> FileHandle {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try FileHandle(forWritingTo: pipe) })
            }
        }
    }

    @Test("one store's keys do not wait for another's")
    func besideEachOther() async throws {
        try await makeFile(["fast"])
        let pipe = try makePipe("pipe")
        let waiting = Task {
            try await PassphraseUnlocker.readPassphrase(from: pipe)
        }
        let writer = try await Self.writer(into: pipe)
        try await open("fast")
        try writer.write(contentsOf: Data("slow\n".utf8))
        try writer.close()
        #expect(try await waiting.value == SecretBytes(text: "slow"))
    }

    @Test("an opening that is cancelled tries no further slot")
    func cancelled() async throws {
        try await makeFile(["1", "2"])
        let pipe = try makePipe("pipe")
        let keyslots = folder.keyslots
        let opening = Task {
            _ = try await StoreKeyring.open(at: keyslots, unlocker: PassphraseUnlocker(file: pipe, cost: .quick))
        }
        let writer = try await Self.writer(into: pipe)
        opening.cancel()
        try writer.write(contentsOf: Data("2".utf8))
        // Nobody would write into the pipe a second time.
        try writer.close()
        await #expect(throws: CancellationError.self) { try await opening.value }
    }
}
