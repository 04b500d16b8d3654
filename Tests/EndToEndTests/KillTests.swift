import ChildProcesses
import DatasyncEmulator
import Foundation
import SeededNumbers
import Testing

@Suite("Processes killed in the middle")
struct KillTests {
    /// Kills syncs at random instants while the network loses requests and answers; in the end nothing may be lost,
    /// doubled or in conflict.
    @Test("syncs that are killed at any instant lose and double nothing", arguments: [3, 2])
    func killedSyncs(_ protocolNumber: Int) async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let server = EmulatorServer(
            EmulatorConfiguration(
                dialect: protocolNumber == 3 ? .datasync : .azureMobileApps,
                tables: ["TodoItem"]
            )
        )
        let url = try await server.start()
        let device = try await Device.make("d", in: folder, server: url.absoluteString, protocolNumber: protocolNumber)
        var expected: [String: String] = [:]
        for round in 0..<12 {
            let id = "r\(round)"
            _ = try await device.add("text \(round)", id: id)
            expected[id] = "text \(round)"
            if round % 3 == 1, let edited = expected.keys.sorted().randomElement(using: &random) {
                try await device.json("edit", edited, "edited in \(round)")
                expected[edited] = "edited in \(round)"
            }
            if round % 4 == 3, let gone = expected.keys.sorted().randomElement(using: &random) {
                try await device.json("delete", gone)
                expected[gone] = nil
            }
            let sync = try ToolProcess.start(["todo", "sync", "--store", device.folder.path])
            // After as many requests as chance says, or after a span that chance says, the process dies.
            let requests = server.emulator.requests.count + Int.random(in: 0...3, using: &random)
            let deadline = ContinuousClock.now + .milliseconds(Int.random(in: 1...60, using: &random))
            try await looking { ContinuousClock.now >= deadline || server.emulator.requests.count >= requests }
            sync.signal(SIGKILL)
            _ = await sync.result()
        }
        let final = try await device.json("sync")
        #expect(final["conflicts"] as? Int == 0 && final["failed"] as? Int == 0, "seed \(seed)")
        #expect(try await device.texts() == expected, "seed \(seed)")
        let rows = server.emulator.rows(in: "TodoItem").filter { $0["deleted"] != .bool(true) }
        let texts = Dictionary(uniqueKeysWithValues: rows.map { ($0["id"]?.string ?? "", $0["text"]?.string ?? "") })
        #expect(texts == expected, "seed \(seed)")
        await server.stop()
    }

    @Test("what an add has printed is there, however soon the next process dies")
    func killedAdds() async throws {
        let folder = try TemporaryFolder()
        let device = try await Device.make("d", in: folder, server: "http://127.0.0.1:9", protocolNumber: 3)
        var printed: Set<String> = []
        for index in 0..<20 {
            let add = try ToolProcess.start(
                ["todo", "add", "text", "--id", "i\(index)", "--store", device.folder.path]
            )
            // Not a wait for something: the instant of the kill is what the rounds vary.
            try await Task.sleep(for: .milliseconds(index * 2))
            add.signal(SIGKILL)
            if await !add.result().output.isEmpty { printed.insert("i\(index)") }
        }
        let ids = Set(try await device.items().keys)
        #expect(printed.isSubset(of: ids))
        #expect(try await device.json("status")["pending"] as? Int == ids.count, "each item has its operation")
    }
}
