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

    @Test("a folder or a named pipe in a file's place is an error, and does not block")
    func notRegular() async throws {
        for file in files {
            let target = folder.url.appending(path: "target")
            try FileManager.default.moveItem(at: file, to: target)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            #expect(await openingCode() == .io)
            try FileManager.default.removeItem(at: file)
            #expect(unsafe mkfifo(file.path(), 0o600) == 0)
            #expect(await openingCode() == .io)
            try FileManager.default.removeItem(at: file)
            try FileManager.default.moveItem(at: target, to: file)
        }
    }

    @Test("a file that may not be read is secretUnavailable", .enabled(if: geteuid() != 0, "the superuser reads all"))
    func unreadable() async throws {
        for file in files {
            #expect(unsafe chmod(file.path(), 0) == 0)
            #expect(await openingCode() == .secretUnavailable)
            #expect(unsafe chmod(file.path(), 0o600) == 0)
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
