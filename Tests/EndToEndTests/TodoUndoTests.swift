import DatasyncEmulator
import Foundation
import Synchronization
import Testing

@Suite("Taking changes back with the tool")
struct TodoUndoTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("undo takes back a deletion, then the change before it, without a network")
    func undo() async throws {
        try await EmulatorProcess.with(3) { server in
            let device = try await Device.make("d", in: folder, server: server.url, protocolNumber: 3)
            _ = try await device.add("Buy milk", id: "milk")
            try await device.json("sync")
            let nowhere = ["--server", "https://nowhere.invalid"]
            _ = try await device.run(["edit", "milk", "Buy cream"] + nowhere)
            _ = try await device.run(["delete", "milk"])
            #expect(try await device.json("undo", "milk")["undone"] as? String == "deletion")
            #expect(try await device.texts() == ["milk": "Buy cream"])
            #expect(try await device.json("undo", "milk")["undone"] as? String == "change")
            #expect(try await device.texts() == ["milk": "Buy milk"])
            let nothing = try await device.run(["undo", "milk"])
            #expect(nothing.status == 1 && nothing.errors.contains("todo status"))
        }
    }

    @Test("an insert that a deletion has cancelled comes back")
    func cancelled() async throws {
        let device = try await Device.make("d", in: folder, server: "http://127.0.0.1:9", protocolNumber: 3)
        _ = try await device.add("Buy milk", id: "milk")
        _ = try await device.run(["delete", "milk"])
        #expect(try await device.json("status")["pending"] as? Int == 0)
        #expect(try await device.json("undo", "milk")["undone"] as? String == "deletion")
        #expect(try await device.texts() == ["milk": "Buy milk"])
        #expect(try await device.json("status")["pending"] as? Int == 1)
    }

    @Test("what was refused and what was set aside is named with id and reason; what is retried is sent again")
    func refused() async throws {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem"]))
        let refusals = Mutex(3)
        let server = EmulatorServer(emulator) { request, emulator in
            let isRefused =
                request.method == "POST"
                && refusals.withLock { count in
                    count -= 1
                    return count >= 0
                }
            guard !isRefused else {
                let words = Data(#"{"error":"not \u001b[2Jtoday"}"#.utf8)
                return EmulatorResponse(422, headers: ["Content-Type": "application/json"], body: words)
            }
            return try await emulator.handle(request)
        }
        let url = try await server.start().absoluteString
        try emulator.seed([["id": "bad\u{1B}[2J", "text": "x", "complete": "perhaps"]], in: "TodoItem")
        let device = try await Device.make("d", in: folder, server: url, protocolNumber: 3)
        for id in ["milk", "bread"] { _ = try await device.add("Buy \(id)", id: id) }
        #expect(try await device.run(["sync"]).status == 1)

        let status = try await device.json("status")
        let refused = try #require(status["failures"] as? [[String: Any]])
        #expect(Set(refused.compactMap { $0["id"] as? String }) == ["milk", "bread"])
        #expect(refused.allSatisfy { $0["status"] as? Int == 422 })
        let aside = try #require(status["setAside"] as? [[String: Any]])
        #expect(aside.compactMap { $0["id"] as? String } == ["bad\u{1B}[2J"])
        let reason = try #require(aside.first?["reason"] as? String)
        #expect(reason.contains("complete"))
        let lines = try await device.run(["status"]).output
        #expect(
            lines.contains("refused: milk: ") && lines.contains("(HTTP 422)") && lines.contains("todo retry ID|--all")
        )
        #expect(lines.contains("set aside: bad [2J: ") && !lines.contains("\u{1B}"), "\(lines)")

        // One of them, which is refused once more, and then all.
        #expect(try await device.json("retry", "milk")["retried"] as? Int == 1)
        #expect(try await device.run(["sync"]).status == 1)
        #expect(try await device.json("retry", "--all")["retried"] as? Int == 2)
        #expect(try await device.run(["sync"]).status == 0)
        #expect(emulator.rows(in: "TodoItem").count == 3)
        let after = try await device.json("status")
        #expect(after["pending"] as? Int == 0 && after["failed"] as? Int == 0)
        await server.stop()
    }

    @Test("retry wants to be told what; what was not refused is named")
    func retry() async throws {
        let device = try await Device.make("d", in: folder, server: "http://127.0.0.1:9", protocolNumber: 3)
        _ = try await device.add("Buy milk", id: "milk")
        #expect(try await device.json("retry", "--all")["retried"] as? Int == 0)
        for arguments in [["retry"], ["retry", "milk", "--all"]] {
            let result = try await device.run(arguments)
            #expect(result.status != 0 && result.errors.contains("--all"))
        }
        let waiting = try await device.run(["retry", "milk"])
        #expect(waiting.status == 1 && waiting.errors.contains("was not refused"))
    }
}
