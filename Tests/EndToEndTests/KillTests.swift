import ChildProcesses
import Foundation
import Testing

@Suite("Processes killed in the middle")
struct KillTests {
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
