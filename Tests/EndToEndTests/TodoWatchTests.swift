import ChildProcesses
import Foundation
import Testing

@Suite("The tool keeps a list in step")
struct TodoWatchTests {
    private func watch(_ device: Device, _ arguments: [String] = []) throws -> ChildProcess {
        let watch = ["todo", "watch", "--store", device.folder.path, "--interval", "1"] + arguments
        return try ToolProcess.start(watch, input: .typed)
    }

    /// The objects that were printed.
    private func objects(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n")
            .map { line in
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
                return try #require(object as? [String: Any], "\(line)")
            }
    }

    @Test("takes actions, sends and brings, stays suspended over a restart, and ends with Ctrl-C", arguments: [3, 2])
    func watching(_ protocolNumber: Int) async throws {
        let folder = try TemporaryFolder()
        try await EmulatorProcess.with(protocolNumber) { emulator in
            let (one, two) = (
                try await Device.make("one", in: folder, server: emulator.url, protocolNumber: protocolNumber),
                try await Device.make("two", in: folder, server: emulator.url, protocolNumber: protocolNumber)
            )
            let (first, second) = (try watch(one, ["--json"]), try watch(two, ["--json"]))
            try first.type("add Buy milk\n")
            _ = await first.output(contains: "\"action\":\"add\"")
            _ = await second.output(contains: "\"connection\":\"connected\"")
            try first.type("suspend\n")
            _ = await first.output(contains: "\"state\":\"suspended\"")
            try first.type("add Eggs\n")
            _ = await first.output(contains: "\"pending\":1,\"progress\"")
            try first.type("nonsense\n")
            _ = await first.output(contains: "\"code\":\"usage\"")
            for process in [first, second] { process.signal(SIGINT) }
            let ended = await first.result()
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(await second.result().status == 0)
            let states = try objects(ended.output).compactMap { $0["state"] as? String }
            #expect(states.contains("active") && states.contains("suspended"))

            let again = try watch(one, ["--json"])
            _ = await again.output(contains: "\"state\":\"suspended\"")
            try again.type("resume\n")
            _ = await again.output(contains: "\"pending\":0")
            try again.type("quit\n")
            #expect(await again.result().status == 0)
            try await two.json("sync")
            let texts = try await two.items().values.compactMap { $0["text"] as? String }
            #expect(Set(texts) == ["Buy milk", "Eggs"])
        }
    }

    @Test(
        "speaks plainly where nobody sits at a terminal, takes every action, and says what is possible",
        .timeLimit(.minutes(2))
    )
    func plainly() async throws {
        let folder = try TemporaryFolder()
        try await EmulatorProcess.with(3) { emulator in
            let device = try await Device.make("one", in: folder, server: emulator.url, protocolNumber: 3)
            for (id, text) in [("m", "Milk"), ("b", "Bread")] { _ = try await device.add(text, id: id) }
            let process = try ToolProcess.start(
                ["todo", "watch", "--store", device.folder.path, "--interval", "3600"],
                input: .typed
            )
            var place = try #require(await process.output(contains: "\nconnected\n"))
            // What it is at may be said before the answer or after it.
            let says: [(action: String, answers: [String])] = [
                ("suspend", ["suspend\n", "suspended\n"]), ("add Eggs", ["add ", "suspended, 1 to send\n"]),
                ("edit m Oat milk", ["edit m\n", "suspended, 2 to send\n"]), ("done m", ["done m\n"]),
                ("list", ["[x]  Oat milk"]), ("undo m", ["undo m\n"]),
                ("list", ["[ ]  Milk"]), ("delete m", ["delete m\n"]), ("undo m", ["undo m\n"]),
                ("done b", ["done b\n"]), ("reopen b", ["reopen b\n"]), ("done b", ["done b\n"]), ("nonsense", []),
                ("done", []), ("edit b", []), ("add", []), ("undo x", []), ("resume", ["resume\n", "\nconnected\n"]),
                ("delete m", ["delete m\n"]), ("sync", ["sync\n"]),
            ]
            for (action, answers) in says {
                try process.type(action + "\n")
                let start = place - 1
                for answer in answers {
                    let end = await process.output(contains: answer, from: start)
                    place = max(place, try #require(end, "\(action): \(answer)"))
                }
            }
            try await looking { try await emulator.texts().values.sorted() == ["Bread", "Eggs"] }
            process.signal(SIGINT)
            let result = await process.result()
            #expect(result.status == 0)
            let errors = result.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            for error in [
                "There is no action 'nonsense': add, done, reopen, edit, delete, undo, list, sync, suspend, resume, quit.",
                "Write: done ID", "Write: edit ID TEXT", "Write: add TEXT", "No change of 'x' waits",
            ] {
                #expect(errors.contains(error), "\(errors)")
            }
            #expect(!result.output.contains("\u{1B}") && !result.output.contains("\r"), "nothing is drawn anew")
            let bread = try await emulator.send("GET", "/tables/TodoItem/b").object
            #expect(bread["complete"] as? Bool == true)
        }
    }

    @Test(
        "draws its line anew at a terminal, and leaves it clean after Ctrl-C",
        .enabled(if: Terminals.areAvailable),
        .timeLimit(.minutes(2))
    )
    func atTerminal() async throws {
        let folder = try TemporaryFolder()
        try await EmulatorProcess.with(3) { emulator in
            let device = try await Device.make("one", in: folder, server: emulator.url, protocolNumber: 3)
            let tool = try ToolProcess.executable.path
            let result = try await Terminals.run(
                "exec \(tool) todo watch --store \(device.folder.path) --interval 3600",
                dialogue: [("connected", "suspend\n"), ("suspended", "add Tea\n"), ("suspended, 1 to send", "\u{3}")]
            )
            #expect(result.status == 0, "\(result.output)")
            #expect(result.output.contains("\r\u{1B}[Ksuspended, 1 to send"))
            #expect(result.output.contains("\r\u{1B}[Kadd "))
            #expect(result.output.hasSuffix("\r\u{1B}[K"), "\(result.output)")
        }
    }

    @Test("says that it waits when the server is away")
    func offline() async throws {
        let folder = try TemporaryFolder()
        let device = try await Device.make("one", in: folder, server: "http://127.0.0.1:9", protocolNumber: 3)
        let process = try watch(device, ["--json"])
        _ = await process.output(contains: "\"state\":\"backingOff\"")
        process.signal(SIGTERM)
        let result = await process.result()
        #expect(result.status == 0)
        let waiting = try objects(result.output).first { $0["state"] as? String == "backingOff" }
        #expect(waiting?["connection"] as? String == "disconnected")
        #expect(waiting?["until"] is String && waiting?["error"] is String)
    }
}
