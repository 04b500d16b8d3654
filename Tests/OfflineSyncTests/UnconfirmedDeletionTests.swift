import DatasyncEmulator
import DatasyncHTTP
import Foundation
import HTTPTransport
import RemoteContract
import OfflineSync
import SyncContract
import Testing

/// What stands in front of a service may say yes to everything, or that there is nothing.
@Suite("A deletion that no answer confirms")
struct UnconfirmedDeletionTests {
    enum Word: CaseIterable {
        case empty, object, notFound, gone

        var answer: EmulatorResponse {
            switch self {
            case .empty: EmulatorResponse(200)
            case .object: .json(200, .object([:]))
            case .notFound: EmulatorResponse(404)
            case .gone: EmulatorResponse(410)
            }
        }
    }

    @Test(
        "stays in the queue while the row is there, and the next push deletes it",
        arguments: DatasyncDialect.allCases,
        Word.allCases
    )
    func notDone(_ dialect: DatasyncDialect, _ word: Word) async throws {
        for batchSize in [1, 4] {
            try await SyncWorld.with(dialect, batchSize: batchSize) { world in
                for id in ["a", "b"] { try await world.shareItem(id) }
                let laptop = world.laptop
                for id in ["a", "b"] { try await laptop.table.delete(id) }
                world.emulator.inject(.respond(word.answer, times: 2) { $0.method == "DELETE" })
                let report = try await laptop.context.push()
                #expect(report.pushed == 0 && report.failures.count == 2 && report.conflicts.isEmpty)
                #expect(try await laptop.context.operations().map(\.state) == [.pending, .pending])
                #expect(world.onServer() == ["a": "milk", "b": "milk"])
                #expect(try await laptop.texts().isEmpty)

                #expect(try await laptop.context.push().pushed == 2)
                #expect(world.onServer().isEmpty)
                #expect(try await laptop.context.operationErrors().isEmpty)
            }
        }
    }

    @Test(
        "is done when the row is not there, for which it is asked once",
        arguments: DatasyncDialect.allCases,
        Word.allCases
    )
    func done(_ dialect: DatasyncDialect, _ word: Word) async throws {
        for keepsTombstones in [true, false] {
            try await SyncWorld.with(dialect, keepsTombstones: keepsTombstones) { world in
                try await world.shareItem()
                let laptop = world.laptop
                try await world.phone.table.delete("a")
                _ = try await world.phone.context.push()
                try await laptop.table.delete("a")
                world.emulator.clearRequests()
                world.emulator.inject(.respond(word.answer, times: 1) { $0.method == "DELETE" })
                let report = try await laptop.context.push()
                #expect(report.pushed == 1 && report.notTaken.isEmpty)
                #expect(try await laptop.context.operations().isEmpty)
                // That there is none is believed of a table that is there.
                #expect(report.requests == (keepsTombstones ? 2 : 3))
            }
        }
    }

    @Test("is a conflict when others have changed the row", arguments: DatasyncDialect.allCases, Word.allCases)
    func changed(_ dialect: DatasyncDialect, _ word: Word) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await world.phone.table.update(Record(id: "a", ["text": "cream"]))
            _ = try await world.phone.context.push()
            try await laptop.table.delete("a")
            world.emulator.inject(.respond(word.answer, times: 1) { $0.method == "DELETE" })
            #expect(try await laptop.context.push().conflicts.count == 1)
            #expect(try await laptop.onlyError().serverItem?["text"] == "cream")
            #expect(world.onServer() == ["a": "cream"])
        }
    }

    @Test(
        "stays when nobody can say whether the row is there",
        arguments: [
            EmulatorResponse(500), EmulatorResponse(503), .html(200, "<form>Sign in</form>"), .json(200, .object([:])),
        ]
    )
    func unknown(_ lookUp: EmulatorResponse) async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.delete("a")
            world.emulator.inject(.respond(EmulatorResponse(404), times: 1) { $0.method == "DELETE" })
            world.emulator.inject(.respond(lookUp, times: 1) { $0.method == "GET" && $0.path.hasSuffix("/a") })
            _ = try? await laptop.context.push()
            #expect(try await laptop.context.operations().map(\.state) == [.pending])
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer().isEmpty)
        }
    }

    @Test("is done where rows are not shown one by one, as the table is there")
    func forbidden() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            try await world.laptop.table.delete("a")
            world.emulator.inject(
                .respond(EmulatorResponse(403), times: 9) { $0.method == "GET" && $0.path.hasSuffix("/a") }
            )
            #expect(try await world.laptop.context.push().pushed == 1)
        }
    }

    /// Carries a deletion out, and lets nobody ask for the table behind it until that is repaired.
    private static func withoutTable(_ isRepaired: Switch) -> SyncWorld.StandIn {
        SyncWorld.StandIn { request, emulator in
            let isOfTable = request.method == "GET" && request.query.contains("top=0")
            if isOfTable, !isRepaired.isOn {
                throw TransportError(.cannotConnect, "broken, on purpose", fate: .notSent)
            }
            let answer = try await emulator.handle(request)
            return request.method == "DELETE" ? EmulatorResponse(200) : answer
        }
    }

    @Test("counts as sent when nothing behind it could be, and is followed by the row when it is taken back")
    func takenBack() async throws {
        let isRepaired = Switch()
        let standIn = Self.withoutTable(isRepaired)
        try await SyncWorld.with(.datasync, keepsTombstones: false, answeringLaptop: standIn) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.delete("a")
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedNetwork)
            #expect(world.onServer().isEmpty)
            try await laptop.table.undoDelete("a")
            #expect(try await laptop.context.operations().count == 1)
            isRepaired.isOn = true
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["a": "milk"])
            #expect(try await laptop.texts() == ["a": "milk"])
        }
    }

    @Test("is no error of a request that was not sent when nothing behind it could be")
    func online() async throws {
        let world = try OnlineWorld(.datasync, keepsTombstones: false, answering: Self.withoutTable(Switch()))
        let table = try world.context.remoteTable("TodoItem")
        try await table.insert(["text": "milk"], id: "a")
        let error = await #expect(throws: RemoteError.self) { try await table.delete("a") }
        #expect(error?.code == .unreachable && error?.wasNotSent == false)

        struct Todo: Codable, Identifiable, Sendable {
            var id: String
        }
        try await table.insert(["text": "milk"], id: "b")
        let items = try world.context.remoteTable("TodoItem", of: Todo.self)
        let other = await #expect(throws: RemoteError.self) { try await items.delete("b") }
        #expect(other?.code == .unreachable && other?.wasNotSent == false)
    }
}
