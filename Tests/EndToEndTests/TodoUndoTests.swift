import Foundation
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
