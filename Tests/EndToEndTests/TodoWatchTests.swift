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
            let (first, second) = (try watch(one, ["--json"]), try watch(two))
            try first.type("add Buy milk\n")
            _ = await first.output(contains: "\"action\":\"add\"")
            _ = await second.output(contains: "\nconnected")
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
