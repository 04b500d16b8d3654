import DatasyncEmulator
import DatasyncHTTP
import Foundation
import OfflineSync
import SeededNumbers
import SyncContract
import Testing

@Suite("A server that fails at random")
struct FailingServerConvergenceTests {
    @Test(
        "two devices and a third party converge when it is well again, whether changes leave alone or in batches",
        arguments: DatasyncDialect.allCases,
        [1, 5]
    )
    func convergence(_ dialect: DatasyncDialect, _ batchSize: Int) async throws {
        try await converge(dialect, batchSize)
    }

    @Test(
        "they do so when one of them has all names otherwise, and columns that stay there",
        arguments: DatasyncDialect.allCases,
        [1, 5]
    )
    func names(_ dialect: DatasyncDialect, _ batchSize: Int) async throws {
        try await converge(dialect, batchSize, laptopTable: WireNameTests.note)
    }

    private func converge(
        _ dialect: DatasyncDialect,
        _ batchSize: Int,
        laptopTable: TableDefinition? = nil
    ) async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let (size, table) = (batchSize, laptopTable)
        try await SyncWorld.with(dialect, pageSize: 4, batchSize: size, laptopTable: table) { world in
            for step in 0..<150 {
                let device = Bool.random(using: &random) ? world.phone : world.laptop
                let id = "i\(Int.random(in: 0..<8, using: &random))"
                let exists = try await device.text(id) != nil
                switch Int.random(in: 0..<11, using: &random) {
                case 0...1:
                    // Refused when the id is in use: also a case to go through.
                    _ = try await syncErrorCode {
                        try await device.table.insert([device.textColumn: .string("\(step)")], id: id)
                    }
                case 2...4:
                    guard exists else { continue }
                    try await device.table.update(Record(id: .string(id), [device.textColumn: .string("\(step)")]))
                case 5: if exists { try await device.table.delete(id) }
                case 6: device.server.intercept(Bool.random(using: &random) ? .answerLost : .requestLost)
                case 7:
                    let oops = EmulatorResponse([400, 403, 502, 503, 500, 500, 500].randomElement(using: &random)!)
                    world.emulator.inject(
                        oops.status == 500 && Bool.random(using: &random)
                            ? .applyThenRespond(oops) { $0.method != "GET" } : .respond(oops)
                    )
                case 8:
                    guard let row = world.emulator.rows(in: "TodoItem").randomElement(using: &random) else { continue }
                    var theirs = row.filter { ["id", "text", "complete", "deleted"].contains($0.key) }
                    theirs["extra"] = .string("\(step)")
                    try world.emulator.seed([theirs], in: "TodoItem")
                default: _ = try await syncErrorCode { try await device.pull() }
                }
                if Int.random(in: 0..<12, using: &random) == 0 {
                    for error in try await device.context.operationErrors() {
                        let choices: [ConflictResolution<Record>] = [.keepMine, .takeServer, .discard]
                        try await device.context.resolve(error, with: choices.randomElement(using: &random)!)
                    }
                }
            }
            // Well again is also the way there: what was to be lost on it would be lost later otherwise.
            world.emulator.clearFaults()
            for device in [world.phone, world.laptop] { device.server.clearInterceptions() }
            for _ in 0..<8 {
                for device in [world.phone, world.laptop] {
                    _ = try await syncErrorCode { try await device.pull() }
                    for error in try await device.context.operationErrors() {
                        try await device.context.resolve(error, with: .takeServer)
                    }
                }
            }
            for _ in 0..<2 { for device in [world.phone, world.laptop] { try await device.pull() } }
            let server = world.onServer()
            for device in [world.phone, world.laptop] {
                #expect(try await device.texts() == server, "seed \(seed)")
                #expect(try await device.context.operations().isEmpty, "seed \(seed)")
                for row in world.emulator.rows(in: "TodoItem") where row["deleted"] != .bool(true) {
                    let local = try await device.table.read(row["id"]?.string ?? "")
                    // Where it is taken by a column of the device's own.
                    let isTaken = device.table.definition.columns.contains { $0.name == "extra" }
                    let extra = local?[isTaken ? "extra@server" : "extra"]
                    #expect(extra?.stringValue == row["extra"]?.string, "seed \(seed)")
                    #expect(local?["complete"] != true, "what is called so there is another column here")
                }
            }
        }
    }
}
