import Foundation
import SecretMemory
import Testing

@testable import StoreKeys

@Suite("Files that are not private")
struct PermissionTests {
    private let folder: TemporaryFolder
    private let unlocker: SecretFileUnlocker

    init() async throws {
        folder = try TemporaryFolder()
        unlocker = SecretFileUnlocker(at: folder.secretFile)
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker)
    }

    private func openingCode() async -> KeyError.Code? {
        await keyErrorCode { _ = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker) }
    }

    private var files: [URL] { [folder.keyslots, folder.secretFile] }

    @Test(
        "a mode wider than 0600 is refused, for either file",
        arguments: [0o640, 0o604, 0o660, 0o606, 0o644, 0o666, 0o777, 0o610, 0o601, 0o700, 0o4600]
    )
    func wide(mode: Int) async throws {
        for file in files {
            #expect(unsafe chmod(file.path(), mode_t(mode)) == 0)
            #expect(await openingCode() == .insecurePermissions)
            #expect(unsafe chmod(file.path(), 0o600) == 0)
            #expect(await openingCode() == nil)
        }
    }

    @Test("a mode narrower than 0600 is enough")
    func narrow() async throws {
        for file in files { #expect(unsafe chmod(file.path(), 0o400) == 0) }
        #expect(await openingCode() == nil)
    }

    @Test("a symbolic link is refused, for either file")
    func link() async throws {
        for file in files {
            let target = folder.url.appending(path: "target")
            try FileManager.default.moveItem(at: file, to: target)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
            #expect(await openingCode() == .insecurePermissions)
            try FileManager.default.removeItem(at: file)
            try FileManager.default.moveItem(at: target, to: file)
            #expect(await openingCode() == nil)
        }
    }

    @Test("a second name is refused, for either file, unless a creation that was killed has left it")
    func hardLink() async throws {
        for file in files {
            let name = file.lastPathComponent
            let other = folder.url.appending(path: "other")
            let temporary = folder.url.appending(path: ".\(name).\(String(repeating: "a", count: 32)).tmp")
            try FileManager.default.linkItem(at: file, to: other)
            #expect(await openingCode() == .insecurePermissions)
            #expect(unsafe rename(other.path(), temporary.path()) == 0)
            #expect(await openingCode() == nil)
            #expect(unsafe unlink(temporary.path()) == 0)
        }
    }

    @Test("a file of another user is refused, for either file, but for the superuser's", .enabled(if: geteuid() == 0))
    func owner() async throws {
        for file in files {
            #expect(unsafe chown(file.path(), nobody, nobody) == 0)
            #expect(await openingCode() == .insecurePermissions)
            #expect(unsafe chown(file.path(), 0, 0) == 0)
            #expect(await openingCode() == nil)
        }
    }

    @Test("a folder or a named pipe in a file's place is an error, and does not block")
    func notRegular() async throws {
        for file in files {
            let target = folder.url.appending(path: "target")
            try FileManager.default.moveItem(at: file, to: target)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            #expect(await openingCode() == .inputOutput)
            try FileManager.default.removeItem(at: file)
            #expect(unsafe mkfifo(file.path(), 0o600) == 0)
            #expect(await openingCode() == .inputOutput)
            try FileManager.default.removeItem(at: file)
            try FileManager.default.moveItem(at: target, to: file)
        }
    }

    @Test("a file that may not be read is secretUnavailable", arguments: ["store.keyslots", "store.secret"])
    func unreadable(name: String) async throws {
        let path = folder.url.path()
        await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
            let folder = URL(filePath: path)
            try giveAway(folder, to: nobody, mode: 0o700)
            for file in ["store.keyslots", "store.secret"] {
                try giveAway(folder.appending(path: file), to: nobody, mode: file == name ? 0 : 0o600)
            }
            if geteuid() == 0 { try #require(setuid(nobody) == 0) }
            let code = await keyErrorCode {
                _ = try await StoreKeyring.open(
                    at: folder.appending(path: "store.keyslots"),
                    unlocker: SecretFileUnlocker(at: folder.appending(path: "store.secret"))
                )
            }
            try #require(code == .secretUnavailable)
        }
    }

    @Test("a secret file that is there is used, though nothing can be written beside it")
    func readOnlyMount() async throws {
        let path = folder.url.path()
        await #expect(processExitsWith: .success) { [path = path as String] in
            let mount = URL(filePath: path)
            let writable = mount.appending(path: "writable")
            try FileManager.default.createDirectory(at: writable, withIntermediateDirectories: false)
            try giveAway(writable, to: nobody, mode: 0o700)
            try giveAway(mount.appending(path: "store.secret"), to: nobody, mode: 0o400)
            try giveAway(mount, to: nobody, mode: 0o500)
            if geteuid() == 0 { try #require(setuid(nobody) == 0) }
            _ = try await StoreKeyring.create(
                at: writable.appending(path: "store.keyslots"),
                unlocker: SecretFileUnlocker(at: mount.appending(path: "store.secret"))
            )
            // For the one who cleans up.
            try giveAway(mount, to: geteuid(), mode: 0o700)
        }
    }

    @Test("a new file has mode 0600 whatever the process's mask")
    func mask() async throws {
        let path = folder.url.path()
        await #expect(processExitsWith: .success) { [path = path as String] in
            umask(0o277)
            let url = URL(filePath: path).appending(path: "masked")
            _ = try await StoreKeyring.create(at: url, unlocker: PassphraseUnlocker.quick("any"))
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path())
            try #require(attributes[.posixPermissions] as? Int == 0o600)
        }
    }
}

/// The user without rights, whom permissions stop as they do not stop the superuser, who may be running the tests.
private let nobody: uid_t = 65534

/// Sets a file's mode, and its owner if the process may.
private func giveAway(_ url: URL, to owner: uid_t, mode: mode_t) throws {
    if geteuid() == 0 { try #require(unsafe chown(url.path(), owner, owner) == 0) }
    try #require(unsafe chmod(url.path(), mode) == 0)
}
