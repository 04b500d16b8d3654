import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

/// Requests that arrive after they were given up, and answers that never came: what was sent is remembered until it can
/// no longer arrive.
@Suite("Requests whose fate is not known")
struct LateRequestTests {
    private static let choosesIDs = SyncWorld.StandIn { request, emulator in
        guard request.method == "POST" else { return try await emulator.handle(request) }
        return .json(201, .object(["id": .string("chosen"), "text": .string("milk"), "version": .string("1")]))
    }

    private static let fails = Fault.respond(EmulatorResponse(500), times: 1) { $0.method == "GET" }

    @Test("keep after a failure does not make one forget what was sent before", arguments: DatasyncDialect.allCases)
    func keepForgetsNothing(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await laptop.table.insert(["text": "milk"], id: "x")
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await phone.pull()
            try await phone.table.update(Record(id: "x", ["text": "of the phone"]))
            _ = try await phone.context.push()
            try await laptop.table.delete("x")
            world.emulator.inject(.respond(EmulatorResponse(413), times: 1) { $0.method == "POST" })
            _ = try await laptop.context.push()
            for error in try await laptop.context.operationErrors() {
                try await laptop.context.resolve(error, with: .keepMine)
            }
            _ = try await laptop.context.push()
            #expect(world.onServer() == ["x": "of the phone"], "the edit that nobody here has seen is not deleted")
            #expect(try await laptop.onlyError().isConflict)
        }
    }

    @Test(
        "an insert that arrives after its item was deleted does not bring it to life",
        arguments: DatasyncDialect.allCases
    )
    func lateInsert(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "x")
            laptop.server.intercept(.late)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await laptop.table.delete("x")
            _ = try await laptop.context.push()
            await laptop.server.deliver()
            #expect(world.onServer().isEmpty)
            try await world.phone.pull()
            #expect(try await world.phone.texts().isEmpty)
        }
    }

    @Test(
        "a change that arrives after it was discarded is taken back, whenever it arrives",
        arguments: DatasyncDialect.allCases,
        [true, false]
    )
    func lateUpdate(_ dialect: DatasyncDialect, _ arrivesBeforePush: Bool) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "cream"]))
            laptop.server.intercept(.late)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await laptop.table.revert("a")
            #expect(try await laptop.text("a") == "milk", "at once")
            if arrivesBeforePush { await laptop.server.deliver() }
            _ = try await laptop.context.push()
            await laptop.server.deliver()
            #expect(world.onServer() == ["a": "milk"])
            for device in [laptop, world.phone] {
                try await device.pull()
                #expect(try await device.texts() == ["a": "milk"])
                #expect(try await device.context.operations().isEmpty)
            }
        }
    }

    @Test("a deletion that arrives after it was discarded is taken back", arguments: DatasyncDialect.allCases)
    func lateDeletion(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.delete("a")
            laptop.server.intercept(.late)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await laptop.table.revert("a")
            #expect(try await laptop.text("a") == "milk")
            await laptop.server.deliver()
            #expect(world.onServer().isEmpty)
            _ = try await laptop.context.push()
            #expect(world.onServer() == ["a": "milk"])
        }
    }

    @Test("a restore that arrives after the item was deleted again does not make it live")
    func lateRestore() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.delete("a")
            _ = try await laptop.context.push()
            try await laptop.table.insert(["text": "cream"], id: "a")
            // The insert meets the tombstone, then the restore is late.
            laptop.server.intercept(.whileUnderWay {}, .late)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await laptop.table.delete("a")
            _ = try await laptop.context.push()
            await laptop.server.deliver()
            #expect(world.onServer().isEmpty)
            #expect(try await laptop.context.operations().isEmpty)
        }
    }

    @Test("an answer under another id is a failure after one request, not a row at each push")
    func otherID() async throws {
        try await SyncWorld.with(.datasync, answeringLaptop: Self.choosesIDs) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "x")
            #expect(try await laptop.context.push().failures.count == 1)
            let requests = laptop.server.requestCount
            #expect(try await laptop.context.push().failures.count == 1)
            #expect(laptop.server.requestCount == requests)

            try await laptop.table.delete("x")
            #expect(try await laptop.context.operations().isEmpty, "there is no row x to be deleted")
            _ = try await laptop.context.push()
            #expect(laptop.server.requestCount == requests)
        }
    }

    @Test("also when the item was changed while the request was under way")
    func otherIDOfEditedItem() async throws {
        try await SyncWorld.with(.datasync, answeringLaptop: Self.choosesIDs) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "x")
            laptop.server.intercept(
                .whileUnderWay { try await laptop.table.update(Record(id: "x", ["text": "cream"])) }
            )
            #expect(try await laptop.context.push().failures.count == 1)
            let requests = laptop.server.requestCount
            #expect(try await laptop.context.push().failures.count == 1)
            #expect(laptop.server.requestCount == requests)
            let error = try await laptop.onlyError()
            #expect(error.item?["text"] == "cream" && !error.isConflict)

            try await laptop.context.resolve(error, with: .discard)
            #expect(try await laptop.context.operations().isEmpty)
            #expect(try await laptop.texts().isEmpty)
            #expect(try await laptop.context.push().requests == 0)
        }
    }

    @Test("and when it was deleted meanwhile, there is nothing to be deleted")
    func otherIDOfDeletedItem() async throws {
        try await SyncWorld.with(.datasync, answeringLaptop: Self.choosesIDs) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "x")
            laptop.server.intercept(.whileUnderWay { try await laptop.table.delete("x") })
            _ = try await laptop.context.push()
            let report = try await laptop.context.push()
            #expect(report.failures.isEmpty)
            #expect(try await laptop.context.operations().isEmpty)
            #expect(try await laptop.texts().isEmpty)
        }
    }
}
