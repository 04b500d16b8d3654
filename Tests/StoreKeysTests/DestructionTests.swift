import Foundation
import SecretMemory
import Testing

@testable import StoreKeys

@Suite("Destroying a keyslot file")
struct DestructionTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var unlocker: SecretFileUnlocker { SecretFileUnlocker(at: folder.secretFile) }

    @Test("overwrites the bytes, removes the file and what creations left of it, and nothing else")
    func destroyed() async throws {
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker)
        let content = try Data(contentsOf: folder.keyslots)
        let name = folder.keyslots.lastPathComponent
        // A second name of the same file shows what becomes of the bytes.
        let witness = folder.url.appending(path: "witness")
        try FileManager.default.linkItem(at: folder.keyslots, to: witness)
        let leftover = folder.url.appending(path: ".\(name).\(String(repeating: "a", count: 32)).tmp")
        let others = [".\(name).tmp", ".\(name).backup.tmp", "x.\(name).\(String(repeating: "a", count: 32)).tmp"]
        for file in [leftover] + others.map({ folder.url.appending(path: $0) }) { try content.write(to: file) }

        try await KeyslotFile.destroy(at: folder.keyslots)
        #expect(try folder.names().sorted() == (others + ["store.secret", "witness"]).sorted())
        let left = try Data(contentsOf: witness)
        #expect(left.count == content.count)
        #expect(zip(left, content).filter { $0 == $1 }.count < content.count / 8, "hardly a byte is where it was")
        for name in others { #expect(try Data(contentsOf: folder.url.appending(path: name)) == content) }
    }

    @Test("is done when there is no file, and no folder")
    func nothing() async throws {
        try await KeyslotFile.destroy(at: folder.keyslots)
        try await KeyslotFile.destroy(at: folder.url.appending(path: "nowhere/store.keyslots"))
    }

    @Test("leaves a symbolic link and what it leads to alone, and a folder")
    func link() async throws {
        let target = folder.url.appending(path: "target")
        try Data("precious".utf8).write(to: target)
        try FileManager.default.createSymbolicLink(at: folder.keyslots, withDestinationURL: target)
        let error = await #expect(throws: KeyError.self) { try await KeyslotFile.destroy(at: folder.keyslots) }
        #expect(error?.code == .insecurePermissions)
        #expect(try Data(contentsOf: target) == Data("precious".utf8))
        await #expect(throws: KeyError.self) { try await KeyslotFile.destroy(at: folder.url) }
    }

    @Test("the secret file goes in the same way")
    func secretFile() async throws {
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker)
        try await unlocker.destroySecret()
        #expect(try folder.names() == ["store.keyslots"])
        let error = await #expect(throws: KeyError.self) {
            _ = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker)
        }
        #expect(error?.code == .secretUnavailable)
    }

    #if os(Linux) || os(macOS)
    @Test("a process killed meanwhile leaves what can be destroyed again", arguments: 0..<8)
    func killed(round: Int) async throws {
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker)
        let path = folder.keyslots.path()
        let delay = UInt32(round * 40)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, delay = delay as UInt32] in
            Thread.detachNewThread {
                // Not a wait for something: the instant of the kill is what the rounds vary.
                usleep(delay)
                kill(getpid(), SIGKILL)
            }
            try await KeyslotFile.destroy(at: URL(filePath: path))
            while true { await Task.yield() }
        }
        try await KeyslotFile.destroy(at: folder.keyslots)
        #expect(try folder.names() == ["store.secret"])
    }
    #endif
}
