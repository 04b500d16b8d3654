import ChildProcesses
import DatasyncEmulator
import Foundation
import Testing

@Suite("Bad input gets a clear error, and nothing is lost")
struct BadInputTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A message for a person: one that says something, and no trace of a crash.
    private func expectRefusal(_ result: ToolProcess.Result, _ parts: String..., status: Int32 = 1) {
        #expect(result.status == status, "\(result.output) \(result.errors)")
        for part in parts { #expect(result.message.contains(part), "\(part) in: \(result.errors)") }
        for mark in ["Fatal error", "Current stack trace", "fatalError", "Optional("] {
            #expect(!result.errors.contains(mark), "\(result.errors)")
        }
    }

    private func storeWithOneItem(_ name: String = "d", server: String = "http://127.0.0.1:9") async throws -> Device {
        let device = try await Device.make(name, in: folder, server: server, protocolNumber: 3)
        _ = try await device.add("Buy milk", id: "milk")
        return device
    }

    @Test("a folder that is not a store, and one that is a store already")
    func folders() async throws {
        let nothing = Device(folder: folder.file("nothing"), environment: [:])
        expectRefusal(try await nothing.run(["list"]), "is not a store folder")
        #expect(!FileManager.default.fileExists(atPath: nothing.folder.path), "nothing was made")
        let file = folder.file("file")
        try Data("x".utf8).write(to: file)
        expectRefusal(try await Device(folder: file, environment: [:]).run(["list"]), "is not a store folder")
        let device = try await storeWithOneItem()
        let again = try await ToolProcess.run([
            "todo", "init", "--store", device.folder.path, "--server", "http://127.0.0.1:9",
        ])
        expectRefusal(again, "has a store already")
        #expect(try await device.texts() == ["milk": "Buy milk"])
    }

    enum Damage: String, CaseIterable, Sendable {
        case emptied, cutShort, cutInThePage, startOverwritten, middleOverwritten, noise, keyslotsFlipped, secretLost
    }

    @Test("a damaged file is told, and left as it is", arguments: Damage.allCases)
    func damage(_ damage: Damage) async throws {
        let device = try await storeWithOneItem()
        let database = device.folder.appendingPathComponent("store.db")
        let keyslots = device.folder.appendingPathComponent("store.keys")
        var content = try Data(contentsOf: database)
        var keys = try Data(contentsOf: keyslots)
        var random = SystemRandomNumberGenerator()
        func noise(_ range: Range<Int>) {
            content.replaceSubrange(range, with: range.map { _ in UInt8.random(in: 0...255, using: &random) })
        }
        switch damage {
        case .emptied: content = Data()
        case .cutShort: content = content.prefix(content.count / 8_192 * 4_096)
        case .cutInThePage: content = content.prefix(1_000)
        case .startOverwritten: noise(0..<200)
        case .middleOverwritten: noise(4_096..<content.count)
        case .noise: noise(0..<content.count)
        case .keyslotsFlipped: keys[keys.count / 2] ^= 1
        case .secretLost: try FileManager.default.removeItem(at: device.folder.appendingPathComponent("store.secret"))
        }
        try content.write(to: database)
        try keys.write(to: keyslots)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyslots.path)
        let result = try await device.run(["list", "--json"])
        expectRefusal(result)
        let error = try #require(try result.json()["error"] as? [String: Any])
        let code = try #require(error["code"] as? String)
        let expected =
            damage == .keyslotsFlipped ? "damagedFile" : damage == .secretLost ? "secretUnavailable" : "damaged"
        #expect(code == expected, "\(result.errors)")
        #expect(try Data(contentsOf: database) == content)
        #expect(try Data(contentsOf: keyslots) == keys)
    }

    @Test(
        "servers that answer something else: clear errors, and the change is sent when the server is well again",
        arguments: ["HTML", "500", "401", "503", "nothing", "invalid JSON", "another kind", "cut off"]
    )
    func strangeServers(_ kind: String) async throws {
        let server = EmulatorServer(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem"]))
        let url = try await server.start()
        let device = try await storeWithOneItem(server: url.absoluteString)
        let answer: EmulatorResponse? =
            switch kind {
            case "HTML": .html(200, "<html><body>Please log in</body></html>")
            case "500": .html(500, "<html><body>Oops</body></html>")
            case "401": EmulatorResponse(401)
            case "503": EmulatorResponse(503)
            case "invalid JSON":
                EmulatorResponse(201, headers: ["Content-Type": "application/json"], body: Data(#"{"id": "#.utf8))
            case "another kind":
                EmulatorResponse(200, headers: ["Content-Type": "application/json"], body: Data("[1, 2]".utf8))
            default: nil
            }
        server.emulator.inject(
            answer.map { .respond($0, times: 100) }
                ?? (kind == "nothing" ? .drop(times: 100) : .applyThenDrop(times: 100))
        )
        let result = try await device.run(["sync"])
        expectRefusal(result)
        #expect(result.errors.count > 40 && !result.errors.contains("Please log in"), "\(result.errors)")
        #expect(try await device.texts() == ["milk": "Buy milk"], "nothing is lost")

        server.emulator.clearFaults()
        let sync = try await device.json("sync")
        #expect(sync["pushed"] as? Int == 1 && sync["failed"] as? Int == 0 && sync["conflicts"] as? Int == 0)
        #expect(server.emulator.rows(in: "TodoItem").compactMap { $0["id"]?.string } == ["milk"])
        #expect(try await device.state("milk") == "synced")
        await server.stop()
    }

    @Test("a server that accepts and stays silent does not hold the tool for ever")
    func silentServer() async throws {
        let proxy = LossyProxy(upstream: 9)
        proxy.setUsual(.hold)
        let url = try proxy.start()
        let device = try await storeWithOneItem(server: url.absoluteString)
        expectRefusal(try await device.run(["push", "--timeout", "2"]), "stay queued")
        #expect(try await device.json("status")["pending"] as? Int == 1)
        proxy.stop()
    }

    @Test("ids that break the rules", arguments: ["a/b", "", "..", "a+b", "x\u{7}"])
    func ids(_ id: String) async throws {
        let device = try await storeWithOneItem()
        expectRefusal(try await device.run(["add", "text", "--id", id]), "id")
        #expect(try await device.texts() == ["milk": "Buy milk"])
    }

    @Test("ids in use, and ids that nothing has")
    func wrongIDs() async throws {
        let device = try await storeWithOneItem()
        expectRefusal(try await device.run(["add", "again", "--id", "milk"]), "update")
        for action in [["done", "x"], ["reopen", "x"], ["edit", "x", "text"], ["delete", "x"]] {
            expectRefusal(try await device.run(action), "no to-do has the id")
        }
        expectRefusal(try await device.run(["resolve", "milk", "--discard"]), "is not in conflict")
        #expect(try await device.texts() == ["milk": "Buy milk"])
    }

    @Test("addresses that are none, or that others could read along on")
    func addresses() async throws {
        for address in ["http://example.org", "ftp://127.0.0.1", "nonsense", "http://"] {
            let place = folder.file("a")
            let result = try await ToolProcess.run(["todo", "init", "--store", place.path, "--server", address])
            expectRefusal(result)
            #expect(!FileManager.default.fileExists(atPath: place.path), "nothing was made for \(address)")
        }
        let allowed = try await ToolProcess.run(
            [
                "todo", "init", "--store", folder.file("b").path, "--server", "http://example.org",
                "--allow-insecure-http",
            ]
        )
        #expect(allowed.status == 0, "\(allowed.errors)")
    }

    @Test("a store that another process holds is refused, and free when that process was killed")
    func heldStore() async throws {
        let server = EmulatorServer(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem"]))
        let url = try await server.start()
        let proxy = LossyProxy(upstream: UInt16(try #require(url.port)))
        proxy.next(.hold)
        let device = try await storeWithOneItem(server: try proxy.start().absoluteString)
        // The holder has its store open while it waits for an answer that never comes.
        let holder = try ToolProcess.start(["todo", "push", "--store", device.folder.path])
        try await looking { proxy.requestCount > 0 }
        expectRefusal(try await device.run(["list"]), "another process")
        holder.signal(SIGKILL)
        _ = await holder.result()
        #expect(try await device.texts() == ["milk": "Buy milk"])
        #expect(try await device.json("sync")["failed"] as? Int == 0)
        #expect(try await device.state("milk") == "synced")
        proxy.stop()
        await server.stop()
    }

    @Test(
        "a full disk: the change is refused, what was there stays, and all works when there is room again",
        .enabled(if: getuid() == 0, "needs to mount a small file system")
    )
    func fullDisk() async throws {
        let mount = folder.file("small")
        try FileManager.default.createDirectory(at: mount, withIntermediateDirectories: true)
        func system(_ command: String) async throws -> Int32? { try await ToolProcess.shell(command) }
        guard try await system("mount -t tmpfs -o size=400k tmpfs '\(mount.path)'") == 0 else {
            // In a container without the right to mount; the same is tested in the store with a limit on file sizes.
            return
        }
        let small = try TemporaryFolder(existing: mount)
        var added: Set<String> = []
        do {
            let device = try await Device.make("d", in: small, server: "http://127.0.0.1:9", protocolNumber: 3)
            let text = String(repeating: "x", count: 8_000)
            var refusal: ToolProcess.Result?
            while refusal == nil, added.count < 200 {
                let id = "i\(added.count)"
                let result = try await device.run(["add", text, "--id", id])
                if result.status == 0 { added.insert(id) } else { refusal = result }
            }
            expectRefusal(try #require(refusal, "the disk never filled"), "space")
            #expect(try await system("mount -o remount,size=4m '\(mount.path)'") == 0)
            #expect(Set(try await device.items().keys) == added)
            _ = try await device.add("more", id: "more")
            #expect(try await device.items().count == added.count + 1)
        } catch {
            _ = try await system("umount '\(mount.path)'")
            throw error
        }
        #expect(try await system("umount '\(mount.path)'") == 0)
    }

    @Test(
        "wrong usage has a status of its own and shows the usage",
        arguments: [
            ["todo", "list"], ["todo", "add"], ["todo", "resolve", "x", "--store", "y"], ["nonsense"],
            ["emulator", "--protocol", "4"], ["emulator", "--page-size", "0"], ["demo", "--protocol", "x"],
        ]
    )
    func usage(_ arguments: [String]) async throws {
        expectRefusal(try await ToolProcess.run(arguments), "sage", status: 64)
    }
}
