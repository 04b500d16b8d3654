#if SecretService && KernelKeyring && TPM
import Foundation
import Glibc
import SecretMemory
import Testing

@testable import StoreKeys

/// A folder of its own for each test, removed at the end. Its path is short, for sockets.
final class TestFolder: Sendable {
    let url: URL

    init() throws {
        url = URL(filePath: "/tmp/ks-\(UUID().uuidString.prefix(13))")
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            print("A temporary folder was left behind: \(error)")
        }
    }

    func path(_ name: String) -> String { url.appending(path: name).path() }
}

/// A keyslot file that a secret file opens, and a key store of the platform.
struct TestStore {
    let folder: TestFolder
    let file: SecretFileUnlocker
    let keyslots: Keyslots
    let created: StoreKeyring

    init(_ unlocker: any StoreUnlocker) async throws {
        folder = try TestFolder()
        file = SecretFileUnlocker(at: folder.url.appending(path: "secret"), label: "file")
        keyslots = Keyslots(folder.url.appending(path: "keyslots"))
        created = try await StoreKeyring.create(at: keyslots.url, unlockers: [file, unlocker])
    }

    /// The slot of the key store.
    var slot: Keyslot { created.slots[1] }

    func open(_ unlocker: any StoreUnlocker) async throws -> StoreKeyring {
        try await StoreKeyring.open(at: keyslots.url, unlocker: unlocker)
    }

    /// Whether the unlocker opens the keys that the store was made with.
    func opens(with unlocker: any StoreUnlocker) async throws -> Bool {
        try await open(unlocker).dataKey == created.dataKey
    }
}

/// The error that `body` throws, which must be a `KeyError`.
func keyError(_ body: () async throws -> Void) async -> KeyError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? KeyError
    }
}

/// A slot as a file that nobody vouches for may have it.
func slot(_ kind: SlotKind, _ parameters: [UInt8]) throws -> Keyslot {
    Keyslot(
        id: try RandomSource.system.makeIdentifier(),
        kind: kind,
        label: "",
        createdMilliseconds: 0,
        parameters: parameters,
        nonce: []
    )
}

/// Something that takes connections and never answers.
final class SilentSocket: Sendable {
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let status = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0 && listen(descriptor, 64) == 0)
    }

    deinit { close(descriptor) }

    /// Takes a connection, on a thread that may wait for it, and lets it hang.
    func accept() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                continuation.resume(returning: Glibc.accept(descriptor, nil, nil))
            }
        }
    }
}
#endif
