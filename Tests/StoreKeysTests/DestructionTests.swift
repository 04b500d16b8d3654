import DurableFiles
import Foundation
import SecretMemory
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

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
    /// What a process without the right to it is refused, and what the error says of the file then.
    enum Refusal: String, CaseIterable {
        case folder
        case removal
        case nameOnMedium

        var words: String {
            switch self {
            case .folder: "could not be destroyed and is as it was"
            case .removal: "what it held is gone, and only the file is still there"
            case .nameOnMedium: "is overwritten and removed: what it held is gone"
            }
        }

        /// Takes the right away in time.
        func fileSystem(_ folder: String) -> FileSystem {
            if self == .folder { _ = unsafe chmod(folder, 0o500) }
            return FileSystem { call in
                switch (self, call) {
                case (.removal, .wrote): _ = unsafe chmod(folder, 0o500)
                case (.nameOnMedium, .removed): _ = unsafe chmod(folder, 0o300)
                default: break
                }
            }
        }
    }

    @Test(
        "one that fails says whether the keys are gone, keeps them where the folder may not be written, and can be repeated"
    )
    func refused() async throws {
        for refusal in Refusal.allCases {
            _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker)
            let content = try Data(contentsOf: folder.keyslots)
            let (path, name) = (folder.url.path(), refusal.rawValue)
            await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
                let refusal = try #require(Refusal(rawValue: name))
                let keyslots = URL(filePath: path).appending(path: "store.keyslots")
                if geteuid() == 0 {
                    for place in [keyslots.path(), path] { try #require(unsafe chown(place, 65534, 65534) == 0) }
                    try #require(setuid(65534) == 0)
                }
                let error = await #expect(throws: KeyError.self) {
                    try await KeyslotFile.destroy(at: keyslots, in: refusal.fileSystem(path))
                }
                try #require(unsafe chmod(path, 0o700) == 0)
                try #require(error?.code == .inputOutput)
                try #require(error?.message.contains(refusal.words) == true, "\(String(describing: error))")
                try #require(error?.message.hasSuffix("Make it and its folder writable, and repeat.") == true)
            }
            let left = try? Data(contentsOf: folder.keyslots)
            switch refusal {
            case .folder: #expect(left == content)
            case .removal: #expect(left?.count == content.count && left != content)
            case .nameOnMedium: #expect(left == nil)
            }
            try await KeyslotFile.destroy(at: folder.keyslots)
            #expect(try folder.names() == ["store.secret"])
            try await unlocker.destroySecret()
        }
    }

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
