import DurableFiles
import FileSystemRecording
import Foundation
import SecretMemory
import Testing

@testable import StoreKeys

@Suite("Kills and races, with real processes")
struct CrashTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// After how many changes the keyslot file, or the secret file, has its name, and the temporary one is gone.
    private enum Step {
        static let secretLinked = 4
        static let secretDone = 6
        static let linked = 10
        static let removedTemporary = 11
        static let last = 12
    }

    @Test("a kill after any durable step leaves each file absent or whole", arguments: 1...Step.last)
    func killed(step: Int) async throws {
        let path = folder.url.path()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as Int] in
            let folder = URL(filePath: path)
            let fileSystem = FileSystem.killing(after: step)
            let secretFile = folder.appending(path: "store.secret")
            _ = try await StoreKeyring.create(
                at: folder.appending(path: "store.keyslots"),
                unlockers: [SecretFileUnlocker(at: secretFile, random: .system, in: fileSystem)],
                random: .system,
                in: fileSystem
            )
        }

        let unlocker = SecretFileUnlocker(at: folder.secretFile)
        let isThere = step >= Step.linked
        let hasTemporary = ![5, Step.secretDone, Step.removedTemporary, Step.last].contains(step)
        var expected = step >= Step.secretLinked ? ["store.secret"] : []
        if isThere { expected.insert("store.keyslots", at: 0) }
        let names = try folder.names()
        #expect(names.filter { !$0.hasSuffix(".tmp") } == expected)
        #expect(names.filter { $0.hasSuffix(".tmp") }.count == (hasTemporary ? 1 : 0))

        // What is there opens; what is not there can be made, in spite of what was left.
        if isThere {
            _ = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker)
        } else {
            _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.keyslots.path())
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        // What was left may be a second name of a file; it is no obstacle to its end.
        try await KeyslotFile.destroy(at: folder.keyslots)
        try await unlocker.destroySecret()
        #expect(try folder.names() == [])
    }

    @Test("of several processes that create one file, one succeeds, and the file is its")
    func raceOfProcesses() async throws {
        let path = folder.url.path()
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String] in
                        let folder = URL(filePath: path)
                        let unlocker = SecretFileUnlocker(at: folder.appending(path: "store.secret"))
                        // All wait for each other at the last moment before the file is made.
                        try Data().write(to: folder.appending(path: "ready-\(getpid())"))
                        while try FileManager.default.contentsOfDirectory(atPath: folder.path())
                            .filter({ $0.hasPrefix("ready-") }).count < 4
                        {
                            await Task.yield()
                        }
                        do {
                            let keyring = try await StoreKeyring.create(
                                at: folder.appending(path: "store.keyslots"),
                                unlocker: unlocker
                            )
                            try Data(keyring.dataKey.revealed).write(to: folder.appending(path: "won-\(getpid())"))
                        } catch let error as KeyError where error.code == .alreadyExists {
                            try Data().write(to: folder.appending(path: "lost-\(getpid())"))
                        }
                    }
                }
            }
        }
        let names = try folder.names()
        let winners = names.filter { $0.hasPrefix("won-") }
        #expect(winners.count == 1)
        #expect(names.filter { $0.hasPrefix("lost-") }.count == 3)
        #expect(names.filter { $0.hasSuffix(".tmp") } == [])
        let opened = try await StoreKeyring.open(
            at: folder.keyslots,
            unlocker: SecretFileUnlocker(at: folder.secretFile)
        )
        let winner = try folder.url.appending(path: #require(winners.first))
        #expect(try Array(Data(contentsOf: winner)) == opened.dataKey.revealed)
    }

    @Test("of many tasks that create one file and one secret file, one succeeds, and the file is its")
    func raceOfTasks() async throws {
        let (keyslots, secretFile) = (folder.keyslots, folder.secretFile)
        let outcomes = try await withThrowingTaskGroup(of: SecretBytes?.self) { group in
            for _ in 0..<24 {
                group.addTask {
                    do {
                        let unlocker = SecretFileUnlocker(at: secretFile)
                        return try await StoreKeyring.create(at: keyslots, unlocker: unlocker).dataKey
                    } catch let error as KeyError where error.code == .alreadyExists {
                        return nil
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let winners = outcomes.compactMap(\.self)
        #expect(outcomes.count == 24)
        #expect(winners.count == 1)
        let opened = try await StoreKeyring.open(at: keyslots, unlocker: SecretFileUnlocker(at: secretFile))
        #expect(try opened.dataKey == winners.first)
        #expect(try folder.names() == ["store.keyslots", "store.secret"])
    }
}
