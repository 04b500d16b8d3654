import Foundation
import Testing

@Suite("The to-do list, one process per call")
struct TodoTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("the offline test of the tutorials", arguments: [3, 2])
    func offlineTest(_ protocolNumber: Int) async throws {
        try await EmulatorProcess.with(protocolNumber) { server in
            let nowhere = "https://nowhere.invalid"
            let device = try await Device.make("d", in: folder, server: server.url, protocolNumber: protocolNumber)
            // The wrong host, as the tutorials set it; the items are added, the process ends, and starts again.
            let first = try await device.run(["add", "Buy milk", "--id", "milk", "--server", nowhere])
            #expect(first.status == 0 && first.output == "milk\n")
            _ = try await device.add("Call Ann", id: "ann")
            try await device.json("done", "milk")
            let failed = try await device.run(["sync", "--server", nowhere])
            #expect(failed.status == 1)
            #expect(failed.errors.contains("nowhere.invalid"), "the message names the host: \(failed.errors)")
            #expect(try await device.texts() == ["milk": "Buy milk", "ann": "Call Ann"])
            #expect(try await device.json("status")["pending"] as? Int == 2)
            #expect(try await server.texts().isEmpty, "the server has none")

            let sync = try await device.json("sync")
            #expect(sync["pushed"] as? Int == 2)
            #expect(sync["conflicts"] as? Int == 0 && sync["failed"] as? Int == 0)
            #expect(try await server.texts() == ["milk": "Buy milk", "ann": "Call Ann"])
            #expect(try await device.items().values.allSatisfy { $0["syncState"] as? String == "synced" })
            #expect(try await device.items()["milk"]?["complete"] as? Bool == true)
        }
    }

    @Test("search and order go without case and accents")
    func search() async throws {
        let device = try await Device.make("d", in: folder, server: "http://127.0.0.1:9", protocolNumber: 3)
        for (id, text) in [("z", "Zebra"), ("l", "Łódź"), ("a", "apple"), ("g", "ΆΛΦΑ")] {
            _ = try await device.add(text, id: id)
        }
        func ids(_ arguments: String...) async throws -> [String] {
            let items = try #require(
                try await device.run(["list", "--json"] + arguments).json()["items"] as? [[String: Any]]
            )
            return items.compactMap { $0["id"] as? String }
        }
        #expect(try await ids() == ["a", "l", "z", "g"])
        #expect(try await ids("--search", "lodz") == ["l"])
        #expect(try await ids("--search", "αλφα") == ["g"])
        #expect(try await ids("--search", "nothing").isEmpty)
    }

    @Test("every action, on two devices", arguments: [3, 2])
    func actions(_ protocolNumber: Int) async throws {
        try await EmulatorProcess.with(protocolNumber, ["--page-size", "2"]) { server in
            let phone = try await Device.make("phone", in: folder, server: server.url, protocolNumber: protocolNumber)
            let laptop = try await Device.make("laptop", in: folder, server: server.url, protocolNumber: protocolNumber)
            for index in 0..<5 { _ = try await phone.add("Item \(index)", id: "i\(index)") }
            #expect(try await phone.json("push")["pushed"] as? Int == 5)
            let pull = try await laptop.json("pull")
            #expect(pull["received"] as? Int == 5 && pull["deleted"] as? Int == 0)
            #expect(try #require(pull["requests"] as? Int) >= 3)

            try await phone.json("edit", "i0", "Edited")
            try await phone.json("done", "i1")
            try await phone.json("done", "i2")
            try await phone.json("reopen", "i2")
            try await phone.json("delete", "i3")
            #expect(try await phone.state("i0") == "pending")
            #expect(try await phone.state("i4") == "synced")
            #expect(try await phone.json("sync")["pushed"] as? Int == 4)
            let second = try await laptop.json("sync")
            #expect(second["received"] as? Int == 3 && second["deleted"] as? Int == 1)
            #expect(try await laptop.texts() == server.texts())
            #expect(try await laptop.texts() == phone.texts())

            let open = try #require(try await laptop.json("list", "--open")["items"] as? [[String: Any]])
            #expect(Set(open.compactMap { $0["id"] as? String }) == ["i0", "i2", "i4"])
            let done = try #require(try await laptop.json("list", "--done")["items"] as? [[String: Any]])
            #expect(done.compactMap { $0["id"] as? String } == ["i1"])
            let found = try #require(
                try await laptop.json("list", "--search", "EDIT")["items"] as? [[String: Any]]
            )
            #expect(found.compactMap { $0["id"] as? String } == ["i0"])

            #expect(try await laptop.json("purge")["purged"] as? Int == 4)
            #expect(try await laptop.texts().isEmpty)
            try await laptop.json("pull", "--query-id", "other")
            #expect(try await laptop.texts() == server.texts())
            _ = try await laptop.add("unsent")
            #expect(try await laptop.run(["purge"]).status == 1, "changes wait")
            let forced = try await laptop.json("purge", "--force")
            #expect(forced["purged"] as? Int == 5 && forced["givenUp"] as? Int == 1)
            try await laptop.json("pull", "--full")
            #expect(try await laptop.texts() == server.texts())

            let status = try await laptop.json("status")
            #expect(status["pending"] as? Int == 0 && status["conflicts"] as? Int == 0 && status["failed"] as? Int == 0)
            let engine = try #require(status["engine"] as? [String: Any])
            #expect((engine["sqlcipher"] as? String)?.isEmpty == false && (engine["sqlite"] as? String)?.first == "3")
        }
    }

    @Test(
        "a conflict is listed with both sides and settled each way",
        arguments: [
            (3, "--keep-mine"), (3, "--take-server"), (3, "--discard"),
            (2, "--keep-mine"), (2, "--take-server"), (2, "--discard"),
        ]
    )
    func conflicts(_ row: (protocolNumber: Int, choice: String)) async throws {
        try await EmulatorProcess.with(row.protocolNumber) { server in
            let phone = try await Device.make("p", in: folder, server: server.url, protocolNumber: row.protocolNumber)
            let laptop = try await Device.make("l", in: folder, server: server.url, protocolNumber: row.protocolNumber)
            _ = try await phone.add("base", id: "a")
            try await phone.json("sync")
            try await laptop.json("sync")
            try await phone.json("edit", "a", "theirs")
            try await phone.json("sync")
            try await laptop.json("edit", "a", "mine")
            #expect(try await laptop.json("sync")["conflicts"] as? Int == 1)
            #expect(try await laptop.state("a") == "conflicted")
            let list = try #require(try await laptop.json("conflicts")["conflicts"] as? [[String: Any]])
            try #require(list.count == 1)
            #expect(list[0]["id"] as? String == "a")
            #expect((list[0]["mine"] as? [String: Any])?["text"] as? String == "mine")
            #expect((list[0]["server"] as? [String: Any])?["text"] as? String == "theirs")
            let request = try #require(list[0]["request"] as? [String: Any])
            #expect(
                request["path"] as? String == "/tables/TodoItem/a" && [409, 412].contains(request["status"] as? Int)
            )
            #expect(Set(request.keys) == ["method", "path", "status"], "what was exchanged is told without content")

            try await laptop.json("resolve", "a", row.choice)
            #expect(try await laptop.json("sync")["conflicts"] as? Int == 0)
            let expected = ["a": row.choice == "--keep-mine" ? "mine" : "theirs"]
            #expect(try await server.texts() == expected)
            #expect(try await laptop.texts() == expected)
            try await phone.json("sync")
            #expect(try await phone.texts() == expected)
            #expect(try await laptop.run(["resolve", "a", row.choice]).status == 1, "there is nothing left to settle")
        }
    }

    @Test("a store with a passphrase opens with the file or the variable, and with nothing else")
    func passphrase() async throws {
        let file = folder.file("passphrase")
        try Data("correct horse\n".utf8).write(to: file)
        let device = try await Device.make(
            "d",
            in: folder,
            server: "http://127.0.0.1:9",
            protocolNumber: 3,
            arguments: ["--passphrase-file", file.path]
        )
        _ = try await device.run(["add", "milk", "--id", "a", "--passphrase-file", file.path])
        let withVariable = Device(folder: device.folder, environment: ["SEALEDSYNC_PASSPHRASE": "correct horse"])
        #expect(try await withVariable.texts() == ["a": "milk"])

        let without = try await device.run(["list"])
        #expect(without.status == 1 && without.errors.contains("--passphrase-file"))
        let before = try fingerprints(device.folder)
        let wrong = Device(folder: device.folder, environment: ["SEALEDSYNC_PASSPHRASE": "battery staple"])
        let refused = try await wrong.run(["list", "--json"])
        #expect(refused.status == 1)
        let error = try #require(try refused.json()["error"] as? [String: Any])
        #expect(error["code"] as? String == "wrongSecret")
        #expect(!refused.errors.contains("battery") && !refused.output.contains("battery"))
        #expect(try fingerprints(device.folder) == before, "a refused call changes no file")
    }

    @Test("nothing in the folder can be read: no text, no table name, no id")
    func nothingReadable() async throws {
        let device = try await Device.make("d", in: folder, server: "http://127.0.0.1:9", protocolNumber: 3)
        _ = try await device.add("Zanzibar tickets", id: "marker-id-4711")
        for file in try FileManager.default.contentsOfDirectory(at: device.folder, includingPropertiesForKeys: nil) {
            let content = try Data(contentsOf: file)
            for marker in ["Zanzibar", "marker-id", "TodoItem", "MS_Table", "127.0.0.1", "SQLite format"] {
                #expect(content.range(of: Data(marker.utf8)) == nil, "\(marker) in \(file.lastPathComponent)")
            }
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(file.lastPathComponent)")
        }
    }

    private func fingerprints(_ folder: URL) throws -> [String: Data] {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return Dictionary(uniqueKeysWithValues: try files.map { ($0.lastPathComponent, try Data(contentsOf: $0)) })
    }
}
