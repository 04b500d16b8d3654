import Foundation
import SealedSync
import Testing

@Suite("Looking after a store, one process per call")
struct StoreActionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeStore(rows: Int = 20, deletesHalf: Bool = false) async throws -> StoreDevice {
        try await StoreDevice.make(folder.file("d"), rows: rows, deletesHalf: deletesHalf)
    }

    @Test("inspect shows tables and what waits, and changes nothing")
    func inspect() async throws {
        let device = try await makeStore()
        let before = try device.contents()
        let answer = try await device.json("inspect")
        let content = try #require(answer["content"] as? [String: Any])
        #expect(content["pending"] as? Int == 1 && content["errors"] as? Int == 0)
        let tables = try #require(content["tables"] as? [[String: Any]])
        let notes = try #require(tables.first { $0["name"] as? String == "Notes" })
        #expect(notes["rows"] as? Int == 21 && notes["system"] as? Bool == false)
        #expect((notes["columns"] as? [[String: Any]])?.first?["name"] as? String == "text")
        #expect(answer["slots"] as? [String] == ["secret-file"] && answer["inUse"] as? Bool == false)
        let lines = try await device.run(["inspect"]).output
        #expect(lines.contains("Notes") && !lines.contains("marker"), "names of tables, and nothing that rows hold")
        #expect(try device.contents() == before)
    }

    @Test("inspect without the secret, and of a store that is open, shows what is visible from outside")
    func inspectFromOutside() async throws {
        let device = try await makeStore()
        let store = try await device.folder.open(
            StoreSchema([StoreDevice.table]),
            unlocker: SecretFileUnlocker(at: device.secretFile)
        )
        let open = try await device.json("inspect")
        #expect(open["inUse"] as? Bool == true && open["content"] == nil)
        #expect((open["locked"] as? String)?.contains("open") == true)
        await store.close()
        try FileManager.default.removeItem(at: device.secretFile)
        let locked = try await device.json("inspect")
        #expect(locked["inUse"] as? Bool == false && locked["content"] == nil)
        #expect(try #require(locked["databaseBytes"] as? Int) > 4_096)
    }

    @Test("verify finds no damage in a sound store, and names the page and what to do otherwise")
    func verify() async throws {
        let device = try await makeStore(rows: 200)
        let sound = try await device.json("verify")
        #expect(sound["sound"] as? Bool == true && (sound["findings"] as? [Any])?.isEmpty == true)
        #expect(try await device.run(["verify"]).output.contains("no damage found"))
        var bytes = try Data(contentsOf: device.database)
        bytes[6 * 4_096 + 77] ^= 4
        try bytes.write(to: device.database)
        let result = try await device.run(["verify", "--json"])
        #expect(result.status == 1)
        let answer = try result.json()
        let findings = try #require(answer["findings"] as? [[String: Any]])
        #expect(findings.contains { $0["kind"] as? String == "damagedPage" && $0["page"] as? Int == 7 }, "\(findings)")
        #expect(answer["sound"] as? Bool == false)
        let lines = try await device.run(["verify"])
        #expect(
            lines.status == 1 && lines.output.contains("page 7") && lines.output.contains("next: restore"),
            "\(lines.output)"
        )
        #expect(try Data(contentsOf: device.database) == bytes)
    }

    @Test("inspect and verify tell the log of a killed store from damage of the backup that was put over it")
    func backupOverKilledStore() async throws {
        let device = try await makeStore()
        // No load on the machine may empty the log before it is read.
        var options = EncryptedStoreOptions()
        options.checkpointDelay = nil
        let store = try await device.folder.open(
            StoreSchema([StoreDevice.table]),
            unlocker: SecretFileUnlocker(at: device.secretFile),
            options: options
        )
        try await store.upsert([Record(id: "late", ["text": "after the backup"])], table: "Notes")
        let log = try Data(contentsOf: URL(fileURLWithPath: device.database.path + "-wal"))
        await store.close()
        let restored = StoreDevice(folder.file("restored"))
        _ = try await device.json("backup", restored.path)
        try FileManager.default.copyItem(at: device.secretFile, to: restored.secretFile)
        let place = URL(fileURLWithPath: restored.database.path + "-wal")
        try log.write(to: place)
        let before = try restored.contents()
        let inspection = try await restored.run(["inspect"])
        #expect(inspection.message.contains("move the log away"), "\(inspection.output) \(inspection.errors)")
        #expect(!inspection.message.contains("is damaged"))
        let result = try await restored.run(["verify", "--json"])
        #expect(result.status == 1)
        let findings = try #require(result.json()["findings"] as? [[String: Any]])
        #expect(findings.map { $0["kind"] as? String } == ["foreignLog"], "\(findings)")
        let lines = try await restored.run(["verify"]).output.split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        #expect(lines.contains("move the log away"), "\(lines)")
        #expect(try restored.contents() == before)
        try FileManager.default.removeItem(at: place)
        #expect(try await restored.json("verify")["sound"] as? Bool == true)
    }

    @Test("verify sees a change that has lost its row")
    func verifyQueue() async throws {
        let device = try await makeStore()
        let store = try await device.folder.open(
            StoreSchema([StoreDevice.table]),
            unlocker: SecretFileUnlocker(at: device.secretFile)
        )
        try await store.deleteItems(withIDs: ["waiting"], table: "Notes")
        await store.close()
        let result = try await device.run(["verify", "--json"])
        #expect(result.status == 1)
        let finding = try #require((try result.json()["findings"] as? [[String: Any]])?.first)
        #expect(finding["kind"] as? String == "inconsistentQueue" && finding["row"] as? Int == 1)
    }

    @Test("compact gives space back and keeps every row; upgrade says that there is nothing to do, or does it")
    func rewriting() async throws {
        let device = try await makeStore(rows: 400, deletesHalf: true)
        let before = try await device.rows()
        let answer = try await device.json("compact")
        #expect(answer["rewritten"] as? Bool == true)
        #expect(try #require(answer["bytesAfter"] as? Int) < #require(answer["bytesBefore"] as? Int))
        let upgrade = try await device.json("upgrade")
        #expect(
            upgrade["formatAfter"] as? Int == (try EncryptedStore.linkedEngineVersion().cipher.hasPrefix("3") ? 1 : 2)
        )
        #expect(try await device.rows() == before)
        #expect(try await device.json("verify")["sound"] as? Bool == true)
    }

    @Test("backup makes a folder that opens with the same secret, which it does not hold")
    func backup() async throws {
        let device = try await makeStore()
        let before = try await device.rows()
        let target = folder.file("copy")
        // A folder that was made for the backup is as good as none.
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
        let answer = try await device.json("backup", target.path)
        #expect(answer["folder"] as? String == target.path)
        let copy = StoreDevice(target)
        #expect(try copy.names().filter { !$0.hasSuffix(".lock") } == ["store.db", "store.keys"])
        let verified = try await copy.run(["verify", "--secret-file", device.secretFile.path])
        #expect(verified.status == 0, "\(verified.errors)")
        try FileManager.default.copyItem(at: device.secretFile, to: copy.secretFile)
        #expect(try await copy.rows() == before)
        for name in try copy.names() {
            let mode = try FileManager.default.attributesOfItem(atPath: target.appendingPathComponent(name).path)
            #expect(mode[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        let again = try await device.run(["backup", target.path])
        #expect(again.status == 1 && again.message.contains("already"), "\(again.errors)")
        #expect(try await copy.rows() == before)
    }

    @Test("export and encrypt are each other's opposite, and export wants to be asked for")
    func exportAndEncrypt() async throws {
        let device = try await makeStore()
        let before = try await device.rows()
        let plain = folder.file("plain.db")
        let refused = try await device.run(["export", plain.path])
        #expect(refused.status == 64 && refused.message.contains("--plaintext-i-understand"))
        #expect(!FileManager.default.fileExists(atPath: plain.path))
        _ = try await device.json("export", plain.path, "--plaintext-i-understand")
        let content = try Data(contentsOf: plain)
        #expect(content.starts(with: Data("SQLite format 3".utf8)) && content.range(of: Data("marker 7".utf8)) != nil)
        #expect(try FileManager.default.attributesOfItem(atPath: plain.path)[.posixPermissions] as? Int == 0o600)

        let other = StoreDevice(folder.file("other"))
        let answer = try await other.json("encrypt", plain.path)
        let tables = try #require(answer["tables"] as? [[String: Any]])
        #expect(tables.first?["name"] as? String == "Notes" && tables.first?["rows"] as? Int == 21)
        #expect(try await other.rows() == before)
        #expect(try await other.json("verify")["sound"] as? Bool == true)
        for (name, data) in try other.contents() {
            #expect(data.range(of: Data("marker".utf8)) == nil, "\(name)")
        }
        #expect(try Data(contentsOf: plain) == content, "the plain file is only read")
    }

    @Test("encrypt with a passphrase makes a store that the passphrase opens")
    func encryptWithPassphrase() async throws {
        let device = try await makeStore()
        let plain = folder.file("plain.db")
        _ = try await device.json("export", plain.path, "--plaintext-i-understand")
        let file = try folder.write("correct horse battery staple", to: "passphrase")
        let other = StoreDevice(folder.file("other"))
        #expect(
            try await other.json("encrypt", plain.path, "--passphrase-file", file.path)["unlocker"] as? String
                == "passphrase"
        )
        #expect(try await other.json("verify", "--passphrase-file", file.path)["sound"] as? Bool == true)
        let wrong = try await other.run(["verify"], environment: ["SEALEDSYNC_PASSPHRASE": "battery"])
        #expect(wrong.status == 1 && wrong.message.hasPrefix("sealedsync: the passphrase is wrong; if"))
        #expect(wrong.message.contains("the keyslot file was altered"))
    }

    @Test("wipe leaves nothing of the store, and everything else; it needs no secret")
    func wipe() async throws {
        let device = try await makeStore()
        try Data("mine".utf8).write(to: device.folder.url.appendingPathComponent("notes.txt"))
        try FileManager.default.removeItem(at: device.secretFile)
        let unsure = try await device.run(["wipe"])
        #expect(unsure.status == 1 && unsure.message.contains("--yes"))
        #expect(try device.names().contains("store.db"))
        #expect(try await device.json("wipe", "--yes")["wiped"] as? Bool == true)
        #expect(try device.names() == ["notes.txt"])
        let again = try await device.run(["wipe", "--yes"])
        #expect(again.status == 1 && again.message.contains("no store"))
    }

    @Test("wipe asks on a terminal, and takes nothing but the word for a yes", .enabled(if: Terminals.areAvailable))
    func wipeOnTerminal() async throws {
        let device = try await makeStore()
        let command = "'\(try ToolProcess.executable.path)' store wipe --store '\(device.path)'"
        let no = try await Terminals.run(command, input: "yes\n")
        #expect(no.output.contains("Type wipe") && no.output.contains("Nothing was changed"), "\(no.output)")
        #expect(try await device.rows().count == 21)
        let yes = try await Terminals.run(command, input: "wipe\n")
        #expect(yes.output.contains("wiped"), "\(yes.output)")
        #expect(try device.names().isEmpty)
    }

    @Test("everything printed for people fits 80 columns")
    func columns() async throws {
        let device = try await makeStore(rows: 100)
        var bytes = try Data(contentsOf: device.database)
        var outputs = [try await device.run(["inspect"]), try await device.run(["compact"])]
        outputs.append(try await device.run(["export", folder.file("plain").path, "--plaintext-i-understand"]))
        for offset in stride(from: 4_100, to: bytes.count, by: 9_000) { bytes[offset] ^= 1 }
        try bytes.write(to: device.database)
        outputs.append(try await device.run(["verify"]))
        for action in ["inspect", "verify", "compact", "backup", "export", "encrypt", "upgrade", "wipe"] {
            outputs.append(try await ToolProcess.run(["store", action, "--help"]))
        }
        outputs.append(try await ToolProcess.run(["store", "--help"]))
        for line in outputs.flatMap({ $0.output.split(separator: "\n") }) {
            // A usage line and a path are as long as they are.
            let isFree =
                line.lowercased().contains("usage:") || line.hasPrefix("  See ") || line.contains(folder.url.path)
            #expect(line.count <= 80 || isFree, "\(line)")
        }
    }

    @Test("on a terminal, what goes wrong fits 80 columns too", .enabled(if: Terminals.areAvailable))
    func errorColumns() async throws {
        let device = try await makeStore()
        let tool = "'\(try ToolProcess.executable.path)' store"
        for command in [
            "wipe --store '\(device.path)' </dev/null", "verify --store '\(device.path)' --secret-file none",
        ] {
            let result = try await Terminals.run("\(tool) \(command)", input: "")
            #expect(result.status == 1)
            let lines = result.output.split(whereSeparator: \.isNewline)
            #expect(lines.count > 1 && lines.allSatisfy { $0.count <= 80 || $0.contains(folder.url.path) }, "\(lines)")
        }
    }
}
