import DatasyncEmulator
import DatasyncHTTP
import Foundation
import OfflineSync
import SyncContract
import Testing

@Suite("How a push ends")
struct PushEndTests {
    private func forbid(_ id: String, times: Int = 99) -> Fault {
        .respond(EmulatorResponse(403), times: times) { request in
            request.method != "GET"
                && (request.path.hasSuffix("/" + id)
                    || String(decoding: request.body, as: UTF8.self).contains("\"id\":\"\(id)\""))
        }
    }

    @Test("a forbidden change is parked and the others go on, wherever it stands", arguments: ["a", "b", "c"])
    func forbidden(_ id: String) async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            for id in ["a", "b", "c"] { try await laptop.table.insert(["text": .string(id)], id: id) }
            world.emulator.inject(forbid(id))
            let report = try await laptop.context.push()
            #expect(report.pushed == 2)
            #expect(report.failures.map(\.itemID) == [id] && report.failures.map(\.status) == [403])
            #expect(try await laptop.context.status().failed == 1)
            #expect(try await laptop.context.push().requests == 0)
        }
    }

    @Test("when every change is forbidden, none is parked and the push ends as after 401")
    func allForbidden() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            for id in ["a", "b", "c"] { try await laptop.table.insert(["text": .string(id)], id: id) }
            world.emulator.inject(.respond(EmulatorResponse(403), times: 99))
            let error = await #expect(throws: SyncError.self) { _ = try await laptop.context.push() }
            #expect(error?.code == .pushAbortedAuthentication)
            #expect(try await laptop.context.status().pending == 3)
            #expect(try await laptop.context.operationErrors().isEmpty)
            world.emulator.clearFaults()
            #expect(try await laptop.context.push().pushed == 3)
        }
    }

    @Test("a change that is refused here says nothing of the server, which has forbidden all others")
    func allForbiddenButOneRefusedHere() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try world.emulator.seed([["id": "a/b", "text": "theirs"]], in: "TodoItem")
            try await laptop.pull()
            for id in ["a", "b"] { try await laptop.table.insert(["text": .string(id)], id: id) }
            // No address can name this row.
            try await laptop.table.update(Record(id: "a/b", ["text": "mine"]))
            world.emulator.inject(.respond(EmulatorResponse(403), times: 99) { $0.method != "GET" })
            let error = await #expect(throws: SyncError.self) { _ = try await laptop.context.push() }
            #expect(error?.code == .pushAbortedAuthentication)
            #expect(error?.push?.failures.map(\.itemID) == ["a/b"])
            #expect(try await laptop.context.status().pending == 2)
            world.emulator.clearFaults()
            #expect(try await laptop.context.push().pushed == 2)
            #expect(world.onServer() == ["a": "a", "b": "b", "a/b": "theirs"])
        }
    }

    @Test("nor does a lost network, which is what has ended the push then")
    func forbiddenAndLost() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            for id in ["a", "b", "c"] { try await laptop.table.insert(["text": .string(id)], id: id) }
            world.emulator.inject(.respond(EmulatorResponse(403), times: 2) { $0.method == "POST" })
            world.emulator.inject(.drop(times: 99) { $0.method == "POST" })
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedNetwork)
            #expect(try await laptop.context.status().pending == 3)
            #expect(try await laptop.context.operationErrors().isEmpty)
            world.emulator.clearFaults()
            #expect(try await laptop.context.push().pushed == 3)
            #expect(world.onServer() == ["a": "a", "b": "b", "c": "c"])
        }
    }

    @Test(
        "an edit that came while something was sent that the server did not take is told",
        arguments: [412, 422, 500]
    )
    func editedInVain(_ status: Int) async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await world.shareItem()
            try await laptop.table.update(Record(id: "a", ["text": "one"]))
            if status == 412 {
                try await world.phone.pull()
                try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
                _ = try await world.phone.context.push()
            } else {
                world.emulator.inject(.respond(EmulatorResponse(status)) { $0.method != "GET" })
            }
            laptop.server.intercept(.whileUnderWay { try await laptop.table.update(Record(id: "a", ["text": "two"])) })
            let report = try await laptop.context.push()
            #expect(report.pushed == 0 && report.notTaken.isEmpty && report.waiting == 0)
            #expect(report.overtaken == 1)
            #expect(try await laptop.context.status().pending == 1)
        }
    }

    @Test(
        "an edit of what the server did not take is told when it comes before the push has ended",
        arguments: [409, 422, 500]
    )
    func editedBehindItsTurn(_ status: Int) async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            if status == 409 {
                try await world.phone.table.insert(["text": "theirs"], id: "a")
                _ = try await world.phone.context.push()
            } else {
                world.emulator.inject(.respond(EmulatorResponse(status)) { $0.method == "POST" })
            }
            for id in ["a", "b"] { try await laptop.table.insert(["text": .string(id)], id: id) }
            laptop.server.intercept(
                .whileUnderWay {},
                .whileUnderWay {
                    #expect(try await laptop.context.operationErrors().count == 1)
                    try await laptop.table.update(Record(id: "a", ["text": "two"]))
                }
            )
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.waiting == 0 && report.notTaken.isEmpty)
            #expect(report.overtaken == 1)
        }
    }

    @Test("what was edited while it was sent in vain, and given up before the push has ended, is told of by nothing")
    func editedInVainAndGivenUp() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await world.shareItem()
            try await laptop.table.update(Record(id: "a", ["text": "one"]))
            try await laptop.table.insert(["text": "b"], id: "b")
            world.emulator.inject(.respond(EmulatorResponse(422)) { $0.method != "GET" })
            laptop.server.intercept(
                .whileUnderWay { try await laptop.table.update(Record(id: "a", ["text": "two"])) },
                .whileUnderWay { try await laptop.table.revert("a") }
            )
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.overtaken == 0 && report.waiting == 0 && report.notTaken.isEmpty)
            #expect(try await laptop.context.operations().isEmpty)
            #expect(world.onServer() == ["a": "milk", "b": "b"])
        }
    }

    @Test("a conflict of before, which is settled behind its turn and taken, counts as that, whatever is edited since")
    func settledAndTaken() async throws {
        try await SyncWorld.with(.datasync) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await world.shareItem()
            try await phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await phone.context.push()
            try await laptop.table.insert(["text": "x"], id: "x")
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            world.emulator.inject(.respond(EmulatorResponse(500)) { $0.method == "POST" })
            #expect(try await laptop.context.push().conflicts.map(\.itemID) == ["a"])
            let conflict = try #require(try await laptop.context.operationErrors().first { $0.isConflict })
            laptop.server.intercept(
                .whileUnderWay { try await laptop.context.resolve(conflict, with: .keepMine) },
                .whileUnderWay { try await laptop.table.update(Record(id: "a", ["text": "newer"])) }
            )
            let report = try await laptop.context.push()
            #expect(report.pushed == 2 && report.overtaken == 0 && report.notTaken.isEmpty, "\(report)")
            #expect(world.onServer() == ["a": "mine", "x": "x"])
            #expect(try await laptop.context.status().pending == 1, "the edit")
        }
    }

    @Test("what takes a change back is not told as taken when it is edited while it is sent")
    func editedUndo() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await world.shareItem()
            try await laptop.table.update(Record(id: "a", ["text": "one"]))
            laptop.server.intercept(.answerLost)
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedNetwork)
            try await laptop.table.revert("a")
            #expect(try await laptop.context.operations().map(\.isUndo) == [true])
            // The first request meets the row that the lost one has made.
            let emulator = world.emulator
            let edit = InterceptedServer.Interception.whileUnderWay {
                guard emulator.rows(in: "TodoItem").first?["text"]?.string == "milk" else { return }
                try await laptop.table.update(Record(id: "a", ["text": "two"]))
            }
            laptop.server.intercept(edit, edit)
            var events = laptop.context.events.makeAsyncIterator()
            let report = try await laptop.context.push()
            #expect(report.pushed == 0 && report.notTaken.isEmpty, "\(report)")
            #expect(world.onServer() == ["a": "milk"])
            var hasEnded = false
            while !hasEnded, let event = await events.next() {
                if case .operationTaken = event { Issue.record("it was none of the app's") }
                hasEnded = event.logLine.hasPrefix("push ended")
            }
            laptop.server.clearInterceptions()
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["a": "two"])
        }
    }

    @Test("a pull that fails says what the push before it did")
    func pullFails() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            for id in ["a", "b"] { try await laptop.table.insert(["text": .string(id)], id: id) }
            world.emulator.inject(.respond(EmulatorResponse(503)) { $0.method == "GET" })
            let error = await #expect(throws: SyncError.self) { try await laptop.pull() }
            #expect(error?.code == .pullAborted)
            #expect(error?.push?.pushed == 2 && error?.push?.requests == 2)
        }
    }

    @Test("a push that stops says what it did before")
    func pushStops() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            for id in ["a", "b", "c"] { try await laptop.table.insert(["text": .string(id)], id: id) }
            laptop.server.intercept(.whileUnderWay {}, .requestLost)
            let error = await #expect(throws: SyncError.self) { try await laptop.pull() }
            #expect(error?.code == .pushAbortedNetwork)
            #expect(error?.push?.pushed == 1)
        }
    }

    @Test("and how many requests it has sent, the last one included")
    func requestsBeforeTheEnd() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            for id in ["a", "b"] { try await laptop.table.insert(["text": .string(id)], id: id) }
            world.emulator.inject(
                .respond(EmulatorResponse(401)) { String(decoding: $0.body, as: UTF8.self).contains("\"id\":\"b\"") }
            )
            let error = await #expect(throws: SyncError.self) { _ = try await laptop.context.push() }
            #expect(error?.code == .pushAbortedAuthentication)
            #expect(error?.push?.pushed == 1 && error?.push?.requests == 2)
        }
    }

    @Test("a change that was forbidden may have arrived all the same: its row is its own", arguments: [403, 413])
    func arrivedAllTheSame(_ status: Int) async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            for id in ["a", "b"] { try await laptop.table.insert(["text": .string(id)], id: id) }
            // An earlier copy passed; what stands in front of the server stopped this one.
            world.emulator.inject(
                .applyThenRespond(EmulatorResponse(status)) { request in
                    String(decoding: request.body, as: UTF8.self).contains("\"id\":\"a\"")
                }
            )
            #expect(try await laptop.context.push().failures.map(\.itemID) == ["a"])
            try await laptop.table.update(Record(id: "a", ["text": "edited"]))
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.isEmpty)
            #expect(world.onServer() == ["a": "edited", "b": "b"])
        }
    }

    @Test("and so may one whose answer asked to come back later, which ends the push", arguments: [408, 429])
    func arrivedBeforeTheEnd(_ status: Int) async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "a"], id: "a")
            world.emulator.inject(.applyThenRespond(EmulatorResponse(status)) { $0.method == "POST" })
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedNetwork)
            try await laptop.table.update(Record(id: "a", ["text": "edited"]))
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.isEmpty)
            #expect(world.onServer() == ["a": "edited"])
        }
    }

    /// Cannot settle anything.
    private final class HelplessDelegate: SyncContextDelegate {
        struct Helpless: Error {}

        func syncContext(
            _ context: SyncContext,
            resolve error: TableOperationError<Record>
        ) async throws -> ConflictResolution<Record>? { throw Helpless() }
    }

    @Test("an answer is recorded also when those before it cannot be settled", arguments: [1, 4])
    func recordedAllTheSame(_ parallelOperations: Int) async throws {
        try await SyncWorld.with(.datasync) { world in
            let delegate = HelplessDelegate()
            let laptop = world.laptop
            laptop.context.delegate = delegate
            for id in ["a", "b", "c"] { try await laptop.table.insert(["text": .string(id)], id: id) }
            world.emulator.inject(forbid("a"))
            world.emulator.inject(forbid("b"))
            await #expect(throws: HelplessDelegate.Helpless.self) { _ = try await laptop.context.push() }
            #expect(try await laptop.context.operations().map(\.itemID) == ["a", "b"])
            #expect(try await laptop.context.operationErrors().map(\.itemID) == ["a", "b"])
            #expect(try await laptop.table.read("c")?.version != nil)
        }
    }
}
