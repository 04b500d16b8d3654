import Foundation
import SealedSync
import Testing

@Suite("Mistakes with stores are told, and change nothing")
struct StoreMistakeTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private let actions = [
        ["inspect"], ["verify"], ["compact"], ["upgrade"], ["backup", "TARGET"],
        ["export", "TARGET", "--plaintext-i-understand"],
    ]

    /// Runs an action on a folder, with a target beside it.
    private func run(_ action: [String], on store: URL, _ more: String...) async throws -> ToolProcess.Result {
        let target = folder.file("target").path
        return try await ToolProcess.run(
            ["store"] + action.map { $0 == "TARGET" ? target : $0 } + ["--store", store.path] + more
        )
    }

    private func expectRefusal(_ result: ToolProcess.Result, _ parts: String..., status: Int32 = 1) {
        #expect(result.status == status, "\(result.output) \(result.errors)")
        for part in parts { #expect(result.message.contains(part), "\(part) in: \(result.errors)") }
        for mark in ["Fatal error", "Optional(", "Error Domain", "StoreError", "KeyError"] {
            #expect(!result.errors.contains(mark), "\(result.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("target").path), "nothing was made")
    }

    @Test("a folder that is not there, is empty, or is a file")
    func noStore() async throws {
        let empty = folder.file("empty")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
        let file = folder.file("file")
        try Data("x".utf8).write(to: file)
        for action in actions + [["wipe", "--yes"]] {
            for place in [folder.file("nowhere"), empty, file] {
                expectRefusal(try await run(action, on: place), "store")
                let answer = try await run(action, on: place, "--json")
                #expect(((try answer.json()["error"] as? [String: Any])?["code"] as? String) == "notFound")
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: empty.path).isEmpty)
        #expect(try Data(contentsOf: file) == Data("x".utf8))
    }

    @Test("a store that an app has open")
    func inUse() async throws {
        let device = try await StoreDevice.make(folder.file("d"))
        let store = try await device.folder.open(
            StoreSchema([StoreDevice.table]),
            unlocker: SecretFileUnlocker(at: device.secretFile)
        )
        for action in actions.dropFirst() + [["wipe", "--yes"]] {
            expectRefusal(try await run(action, on: device.folder.url), "open in this or another process")
        }
        await store.close()
        #expect(try await device.rows().count == 21)
    }

    @Test("a secret that is missing, damaged, or another store's")
    func secrets() async throws {
        let device = try await StoreDevice.make(folder.file("d"))
        let other = try await StoreDevice.make(folder.file("other"))
        for action in actions {
            expectRefusal(
                try await run(action, on: device.folder.url, "--secret-file", other.secretFile.path),
                "not the one"
            )
        }
        let secret = try Data(contentsOf: device.secretFile)
        try Data("abc".utf8).write(to: device.secretFile)
        for action in actions { expectRefusal(try await run(action, on: device.folder.url), "hexadecimal") }
        try FileManager.default.removeItem(at: device.secretFile)
        for action in actions.dropFirst() {
            expectRefusal(try await run(action, on: device.folder.url), "no secret file")
        }
        try secret.write(to: device.secretFile)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: device.secretFile.path)
        #expect(try await device.rows().count == 21)
    }

    @Test("with the variable for another store's passphrase set, a store with a secret file opens all the same")
    func variable() async throws {
        let device = try await StoreDevice.make(folder.file("d"))
        let environment = ["SEALEDSYNC_PASSPHRASE": "of another store"]
        #expect(try await device.run(["verify"], environment: environment).status == 0)
        let todo = try await Device.make("t", in: folder, server: "http://127.0.0.1:9", protocolNumber: 3)
        _ = try await todo.add("milk", id: "a")
        let sameStore = Device(folder: todo.folder, environment: environment)
        #expect(try await sameStore.texts() == ["a": "milk"])
        // An option says something else, and wins.
        let file = folder.file("passphrase")
        try Data("x".utf8).write(to: file)
        expectRefusal(try await device.run(["verify", "--passphrase-file", file.path]), "No slot")
    }

    @Test("a new store says that it is opened by what the variable holds")
    func variableAtInit() async throws {
        let result = try await ToolProcess.run(
            ["todo", "init", "--store", folder.file("t").path, "--server", "http://127.0.0.1:9"],
            environment: ["SEALEDSYNC_PASSPHRASE": "mine"]
        )
        #expect(result.status == 0 && result.output.contains("the passphrase that SEALEDSYNC_PASSPHRASE holds"))
    }

    @Test("a new store whose secret lies beside it says how to do better, and that works")
    func secretBesideIt() async throws {
        let store = folder.file("t")
        let made = try await ToolProcess.run(["todo", "init", "--store", store.path, "--server", "http://127.0.0.1:9"])
        #expect(made.output.contains("whoever gets the whole folder can read it: move store.secret to another\nplace"))
        #expect(made.output.split(separator: "\n").filter { !$0.contains(store.path) }.allSatisfy { $0.count <= 80 })
        let secret = folder.file("elsewhere")
        try FileManager.default.moveItem(at: store.appending(path: "store.secret"), to: secret)
        expectRefusal(try await ToolProcess.run(["todo", "list", "--store", store.path]), "secret")
        let list = ["todo", "list", "--store", store.path, "--secret-file", secret.path]
        #expect(try await ToolProcess.run(list).status == 0)
        let other = try await ToolProcess.run(
            ["todo", "init", "--store", folder.file("u").path, "--server", "http://127.0.0.1:9"],
            environment: ["SEALEDSYNC_PASSPHRASE": "mine"]
        )
        #expect(other.status == 0 && !other.output.contains("whole folder"))
    }

    @Test("a database that is not a store, and a store without its keyslots or its database")
    func otherFiles() async throws {
        let device = try await StoreDevice.make(folder.file("d"))
        let database = try Data(contentsOf: device.database)
        for content in ["SQLite format 3\0 and so on, long enough", "%PDF-1.4 and so on, long enough"] {
            try Data(content.utf8).write(to: device.database)
            for action in actions where action != ["verify"] {
                expectRefusal(try await run(action, on: device.folder.url), "store.db")
            }
            #expect(try await device.run(["verify"]).status == 1)
        }
        try FileManager.default.removeItem(at: device.database)
        for action in actions { expectRefusal(try await run(action, on: device.folder.url), "no store") }
        try database.write(to: device.database)
        try FileManager.default.removeItem(at: device.folder.keyslotsURL)
        for action in actions.dropFirst() {
            expectRefusal(try await run(action, on: device.folder.url), "keyslot file")
        }
        #expect(try await device.run(["inspect"]).output.contains("keyslot file is missing"))
    }

    @Test(
        "options without a value, without a flag they need, or that contradict each other",
        arguments: [
            ["verify", "--store", ""], ["verify"], ["wipe", "--store", "", "--yes"],
            ["verify", "--store", "d", "--passphrase-file", ""], ["verify", "--store", "d", "--secret-file", ""],
            ["verify", "--store", "d", "--passphrase-file", "a", "--secret-file", "b"],
            ["backup", "", "--store", "d"], ["backup", "--store", "d"], ["encrypt", "", "--store", "d"],
            ["export", "", "--plaintext-i-understand", "--store", "d"], ["export", "x", "--store", "d"], ["nonsense"],
        ]
    )
    func usage(_ arguments: [String]) async throws {
        expectRefusal(try await ToolProcess.run(["store"] + arguments), "sage", status: 64)
    }

    @Test("the same of the to-do list")
    func todoUsage() async throws {
        for arguments in [["list", "--store", ""], ["list", "--store", "d", "--passphrase-file", ""]] {
            expectRefusal(try await ToolProcess.run(["todo"] + arguments), "sage", status: 64)
        }
    }

    @Test("targets that exist or cannot be made are left as they are")
    func targets() async throws {
        let device = try await StoreDevice.make(folder.file("d"))
        let full = folder.file("full")
        try FileManager.default.createDirectory(at: full, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: full.appendingPathComponent("mine"))
        let file = folder.file("file")
        try Data("mine".utf8).write(to: file)
        let nowhere = folder.file("nowhere/below").path
        for target in [full.path, file.path, nowhere] {
            expectRefusal(try await device.run(["backup", target]))
            expectRefusal(try await device.run(["export", target, "--plaintext-i-understand"]))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: full.path) == ["mine"])
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == ["d", "file", "full"])
    }

    @Test("files that encrypt cannot take over leave no store, no keys and no folder")
    func encrypt() async throws {
        let device = try await StoreDevice.make(folder.file("d"))
        let text = folder.file("text")
        try Data(String(repeating: "no database. ", count: 1_000).utf8).write(to: text)
        let cut = folder.file("cut")
        _ = try await device.json("export", cut.path, "--plaintext-i-understand")
        try Data(contentsOf: cut).prefix(10_000).write(to: cut)
        for source in [text.path, cut.path, device.database.path, folder.file("nowhere").path, folder.url.path] {
            let result = try await ToolProcess.run(["store", "encrypt", source, "--store", folder.file("target").path])
            expectRefusal(result)
        }
        let before = try device.contents()
        expectRefusal(try await device.run(["encrypt", cut.path]), "already")
        #expect(try device.contents() == before)
    }

    @Test(
        "a folder of somebody else is called that, and not missing",
        .enabled(if: getuid() == 0, "needs to become another user")
    )
    func permissions() async throws {
        let other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        let probe = try await ToolProcess.run(["--version"], through: other)
        // Where the build lies in a private folder, another user cannot even start the tool.
        guard probe.status == 0 else { return print("another user cannot run the tool here: nothing is tested") }
        let device = try await StoreDevice.make(folder.file("d"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
        for action in actions + [["wipe", "--yes"]] {
            let arguments = action.map { $0 == "TARGET" ? folder.file("target").path : $0 }
            expectRefusal(try await device.run(arguments, through: other), "permissions")
        }
        let todo = try await ToolProcess.run(["todo", "list", "--store", device.path], through: other)
        expectRefusal(todo, "permissions")
        #expect(try await device.rows().count == 21)
    }

    @Test(
        "a full disk: the action says so, and the store is as it was",
        .enabled(if: getuid() == 0, "needs to mount a small file system")
    )
    func fullDisk() async throws {
        let mount = folder.file("small")
        try FileManager.default.createDirectory(at: mount, withIntermediateDirectories: true)
        // In a container without the right to mount nothing is tested.
        guard try await ToolProcess.shell("mount -t tmpfs -o size=12m tmpfs '\(mount.path)'") == 0 else { return }
        let result: Result<Void, any Error>
        do {
            let device = try await StoreDevice.make(
                mount.appendingPathComponent("d"),
                rows: 100,
                bytesInRow: 20_000,
                deletesHalf: true
            )
            let before = try await device.rows()
            let free = try FileManager.default.attributesOfFileSystem(forPath: mount.path)[.systemFreeSize] as? Int ?? 0
            let filler = mount.appendingPathComponent("filler")
            try Data(count: free - 200_000).write(to: filler)
            let target = mount.appendingPathComponent("target").path
            let actions = [["compact"], ["backup", target], ["export", target, "--plaintext-i-understand"]]
            for action in actions {
                expectRefusal(try await device.run(action), "space")
                #expect(try await device.rows() == before)
                let names = try FileManager.default.contentsOfDirectory(atPath: mount.path)
                #expect(names.sorted() == ["d", "filler"], "\(action)")
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        #expect(try await ToolProcess.shell("umount --lazy '\(mount.path)'") == 0)
        try result.get()
    }
}
