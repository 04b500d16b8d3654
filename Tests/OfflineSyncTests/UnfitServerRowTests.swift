import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import OfflineSync
import RemoteContract
import SyncContract
import Testing

/// Rows of the server that have a value in some column which the table here cannot have there.
@Suite("Changes of rows that do not fit their table on the server")
struct UnfitServerRowTests {
    private static let count = ColumnDefinition("count", .int64)

    /// A server that answers with a number in a column that the table here cannot have there.
    private static let fillsColumn = SyncWorld.StandIn { request, emulator in
        var answer = try await emulator.handle(request)
        answer.body = Data(
            String(decoding: answer.body, as: UTF8.self).replacing(#""count":7"#, with: #""count":7.5"#).utf8
        )
        return answer
    }

    /// What the laptop did about its change after somebody else had made a row of it that does not fit here.
    private func withConflict(
        _ dialect: DatasyncDialect,
        _ deletes: Bool,
        _ body: (SyncWorld) async throws -> Void
    ) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            if deletes {
                try await laptop.table.delete("a")
            } else {
                try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            }
            try world.emulator.seed([["id": "a", "text": "theirs", "due": "soon"]], in: "TodoItem")
            try await body(world)
        }
    }

    /// Whether the last request that wrote named the version that the server had before.
    private func expectVersion(_ version: String, _ world: SyncWorld) throws {
        let write = try #require(world.emulator.requests.map(\.request).last { $0.method != "GET" })
        #expect(write.headers["If-Match"]?.contains(version) == true)
    }

    @Test("go over them in their version when that is decided", arguments: DatasyncDialect.allCases, [true, false])
    func keepMine(_ dialect: DatasyncDialect, _ deletes: Bool) async throws {
        try await withConflict(dialect, deletes) { world in
            let laptop = world.laptop
            let report = try await laptop.context.push()
            #expect(report.conflicts.count == 1 && report.failures.isEmpty)
            let error = try await laptop.onlyError()
            #expect(error.isConflict && error.serverItem == nil && !error.isDeletedOnServer)
            let version = try #require(world.emulator.rows(in: "TodoItem").first?["version"]?.string)
            try await laptop.context.resolve(error, with: .keepMine)
            let settled = try await laptop.context.push()
            #expect(settled.pushed == 1 && settled.notTaken.isEmpty)
            try expectVersion(version, world)
            #expect(world.onServer() == (deletes ? [:] : ["a": "mine"]))
            #expect(try await laptop.context.operations().isEmpty)
        }
    }

    @Test("go over them where the client wins", arguments: DatasyncDialect.allCases, [true, false])
    func clientWins(_ dialect: DatasyncDialect, _ deletes: Bool) async throws {
        try await withConflict(dialect, deletes) { world in
            world.laptop.context.conflictPolicy = .clientWins
            let report = try await world.laptop.context.push()
            #expect(report.pushed == 1 && report.notTaken.isEmpty)
            #expect(world.onServer() == (deletes ? [:] : ["a": "mine"]))
        }
    }

    @Test("are given up for the server's, which is set aside")
    func takeServer() async throws {
        try await withConflict(.datasync, false) { world in
            let laptop = world.laptop
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .takeServer)
            #expect(try await laptop.text("a") == "milk", "it is as it was before the change")
            try await laptop.pull()
            #expect(try await laptop.context.setAsideRows().map(\.id) == ["a"])
            #expect(try await laptop.text("a") == "milk")
            #expect(try await laptop.context.operations().isEmpty && world.onServer() == ["a": "theirs"])
            // What is written now goes over a version that the server has no more.
            try await laptop.table.update(Record(id: "a", ["text": "mine again"]))
            #expect(try await laptop.context.push().conflicts.count == 1)
            #expect(world.onServer() == ["a": "theirs"])
        }
    }

    @Test("leave no row here that the server never had when they are given up for the server's")
    func takeServerOverInsert() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "mine"], id: "a")
            try world.emulator.seed([["id": "a", "text": "theirs", "due": "soon"]], in: "TodoItem")
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .takeServer)
            #expect(try await laptop.texts() == [:])
            try await laptop.pull()
            #expect(try await laptop.context.setAsideRows().map(\.id) == ["a"])
            #expect(try await laptop.texts() == [:] && world.onServer() == ["a": "theirs"])
        }
    }

    @Test("are named once, as the server spells the id, where it spells it otherwise")
    func otherSpelling() async throws {
        let spelling = SyncWorld.StandIn { request, emulator in
            var answer = try await emulator.handle(request)
            let body = String(decoding: answer.body, as: UTF8.self)
            answer.body = Data(body.replacing(#""id":"a""#, with: #""id":"A""#).utf8)
            return answer
        }
        try await SyncWorld.with(.azureMobileApps, answeringLaptop: spelling) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "mine"], id: "a")
            try world.emulator.seed([["id": "a", "text": "theirs", "due": "soon"]], in: "TodoItem")
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .takeServer)
            try await laptop.pull()
            #expect(try await laptop.context.setAsideRows().map(\.id) == ["A"])
        }
    }

    @Test("count as carried out when the answer shows one, and the row is set aside", arguments: [true, false])
    func written(_ inserts: Bool) async throws {
        try await SyncWorld.with(.datasync, laptopColumns: [Self.count], answeringLaptop: Self.fillsColumn) { world in
            let (context, table) = (world.laptop.context, world.laptop.table)
            if !inserts {
                for id in ["a", "b"] { try await table.insert(["text": "milk", "count": 1], id: id) }
                #expect(try await context.push().pushed == 2)
            }
            try await context.write { transaction in
                for id in ["a", "b"] {
                    let values: [String: FieldValue] = ["text": "mine", "count": id == "a" ? 7 : 2]
                    if inserts {
                        try transaction.insert(values, id: id, into: table)
                    } else {
                        try transaction.update(Record(id: .string(id), values), in: table)
                    }
                }
            }
            let report = try await context.push()
            #expect(report.pushed == 2 && report.notTaken.isEmpty)
            #expect(try await context.operations().isEmpty)
            #expect(world.onServer() == ["a": "mine", "b": "mine"])
            try await world.laptop.pull()
            #expect(try await context.setAsideRows().map(\.id) == ["a"])
            #expect(try await context.push().requests == 0)
        }
    }

    @Test("are known by their version after a failure that left open what became of them")
    func lostAnswer() async throws {
        try await withConflict(.datasync, false) { world in
            let laptop = world.laptop
            world.emulator.inject(.respond(EmulatorResponse(500)) { $0.method == "PUT" })
            #expect(try await laptop.context.push().failures.count == 1)
            let report = try await laptop.context.push()
            #expect(report.conflicts.count == 1 && report.failures.isEmpty, "the look-up shows that it was changed")
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["a": "mine"])
        }
    }

    @Test(
        "are deleted, as far as they are there, when nobody knows whether the insert has arrived",
        arguments: DatasyncDialect.allCases,
        [true, false]
    )
    func takenBack(_ dialect: DatasyncDialect, _ hasArrived: Bool) async throws {
        try await SyncWorld.with(dialect, laptopColumns: [Self.count], answeringLaptop: Self.fillsColumn) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk", "count": 7], id: "a")
            laptop.server.intercept(hasArrived ? .answerLost : .requestLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await laptop.table.delete("a")
            let report = try await laptop.context.push()
            #expect(report.failures.isEmpty)
            for error in report.conflicts { try await laptop.context.resolve(error, with: .keepMine) }
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(try await laptop.context.operations().isEmpty)
            #expect(world.onServer().isEmpty)
        }
    }

    @Test("keep the id that the server has chosen")
    func chosenID() async throws {
        var configuration = EmulatorConfiguration(dialect: .azureMobileApps, tables: ["TodoItem"])
        configuration.store.assignsIDs = true
        let emulator = Emulator(configuration)
        let definition = TableDefinition("TodoItem", columns: todoTable.columns + [Self.count], assignsIDs: true)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .azureMobileApps,
            transport: EmulatorTransport(emulator, answering: Self.fillsColumn.answer)
        )
        let context = SyncContext(store: try makeStore(definition), remote: remote)
        let table: SyncTable<Record> = try context.table("TodoItem")
        let id = try #require(try await table.insert(["text": "milk", "count": 7]).id.stringValue)
        #expect(try await context.push().pushed == 1)
        #expect(try await context.push().requests == 0)
        let chosen = emulator.rows(in: "TodoItem").compactMap { $0["id"]?.string }
        #expect(chosen.count == 1)
        #expect(try await table.serverID(of: id) == chosen.first)
        try await table.pull()
        #expect(try await context.setAsideRows().map(\.id) == chosen)
    }

    @Test(
        "are not gone over by what takes a change back, unless the app's own code says so",
        arguments: DatasyncDialect.allCases,
        [false, true]
    )
    func givenUp(_ dialect: DatasyncDialect, isAsked: Bool) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            laptop.server.intercept(.requestLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await laptop.table.revert("a")
            try world.emulator.seed([["id": "a", "text": "theirs", "due": "soon"]], in: "TodoItem")
            laptop.context.conflictPolicy = isAsked ? .merge { _ in .keepMine } : .clientWins
            _ = try await laptop.context.push()
            #expect(world.onServer() == ["a": isAsked ? "milk" : "theirs"])
            #expect(try await laptop.context.operations().isEmpty)
            #expect(try await laptop.context.journal().map(\.decision) == [isAsked ? .keptMine : .tookServer])
        }
    }
}
