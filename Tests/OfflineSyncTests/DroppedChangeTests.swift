import DatasyncEmulator
import DatasyncHTTP
import Foundation
import OfflineSync
import SyncContract
import Testing

/// The local row stays and its change is dropped, while a request for it may still arrive.
@Suite("A change that was dropped after it was sent")
struct DroppedChangeTests {
    /// Sends a change, which arrives late or whose answer is lost, has it refused when it is sent again, and drops it.
    private func drop(_ fate: InterceptedServer.Interception, in world: SyncWorld) async throws {
        let laptop = world.laptop
        laptop.server.intercept(fate)
        _ = try await syncErrorCode { _ = try await laptop.context.push() }
        world.emulator.inject(.respond(EmulatorResponse(422), times: 1) { $0.method != "GET" })
        _ = try await laptop.context.push()
        try await laptop.context.resolve(try await laptop.onlyError(), with: .keepLocal())
        #expect(try await laptop.context.operations().isEmpty)
    }

    @Test("is no conflict for the next one", arguments: DatasyncDialect.allCases)
    func nextChange(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "cream"]))
            try await drop(.late, in: world)
            await laptop.server.deliver()
            try await laptop.table.update(Record(id: "a", ["text": "butter"]))
            #expect(try await laptop.context.push().conflicts.isEmpty)
            #expect(world.onServer() == ["a": "butter"])
        }
    }

    @Test("is no conflict for the next one where the server puts a value of its own for a null")
    func nextChangeOverDefault() async throws {
        let puttingFalse = SyncWorld.StandIn { request, emulator in
            var answer = try await emulator.handle(request)
            let body = String(decoding: answer.body, as: UTF8.self)
            answer.body = Data(body.replacing(#""complete":null"#, with: #""complete":false"#).utf8)
            return answer
        }
        try await SyncWorld.with(.datasync, answeringLaptop: puttingFalse) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "cream", "complete": .null]))
            try await drop(.late, in: world)
            await laptop.server.deliver()
            try await laptop.table.update(Record(id: "a", ["text": "butter"]))
            #expect(try await laptop.context.push().conflicts.isEmpty)
            #expect(world.onServer() == ["a": "butter"])
        }
    }

    @Test("does not bring an item to life that was deleted since", arguments: DatasyncDialect.allCases)
    func deleted(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "x")
            try await drop(.late, in: world)
            try await laptop.table.delete("x")
            _ = try await laptop.context.push()
            await laptop.server.deliver()
            #expect(world.onServer().isEmpty)
        }
    }

    /// Gives the laptop a conflict with a deletion of the phone.
    private func conflictWithDeletion(in world: SyncWorld) async throws -> TableOperationError<Record> {
        try await world.shareItem()
        try await world.phone.table.delete("a")
        _ = try await world.phone.context.push()
        try await world.laptop.table.update(Record(id: "a", ["text": "cream"]))
        _ = try await world.laptop.context.push()
        return try await world.laptop.onlyError()
    }

    @Test("over a deletion that was seen has the next one bring the item back", arguments: DatasyncDialect.allCases)
    func keptOverDeletion(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let laptop = world.laptop
            try await laptop.context.resolve(try await conflictWithDeletion(in: world), with: .keepLocal())
            #expect(try await laptop.context.push().pushed == 0 && world.onServer().isEmpty)
            #expect(try await laptop.text("a") == "cream")
            try await laptop.table.update(Record(id: "a", ["text": "butter"]))
            #expect(try await laptop.context.push().conflicts.isEmpty)
            #expect(world.onServer() == ["a": "butter"])
        }
    }

    @Test("when the item had its content and was not shown has the next one show it")
    func refusedShowing() async throws {
        try await SyncWorld.with(.azureMobileApps) { world in
            let laptop = world.laptop
            try await laptop.context.resolve(try await conflictWithDeletion(in: world), with: .keepMine)
            world.emulator.inject(.respond(EmulatorResponse(422), times: 1) { $0.method == "POST" })
            #expect(try await laptop.context.push().failures.count == 1)
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepLocal())
            try await laptop.table.update(Record(id: "a", ["text": "butter"]))
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(try await laptop.text("a") == "butter")
            #expect(world.onServer() == ["a": "butter"])
        }
    }
}
