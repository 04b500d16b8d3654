import DatasyncEmulator
import DatasyncHTTP
import Foundation
import OfflineSync
import SyncContract
import Testing

@Suite("A row of the server takes the place of the local one")
struct RowReplacementTests {
    private static let due = JSONValue.string("2026-01-02T03:04:05.000Z")

    /// Lends a world in which the laptop has pulled a row with a due date and a column that it does not declare.
    private func shared(
        _ dialect: DatasyncDialect,
        _ columns: [ColumnDefinition] = [],
        _ body: (SyncWorld, SyncWorld.Device) async throws -> Void
    ) async throws {
        // The genuine servers leave out a column that the type has lost; the emulator keeps what it is given.
        let isLost = Switch()
        try await SyncWorld.with(
            dialect,
            laptopColumns: columns,
            answeringLaptop: SyncWorld.StandIn { request, emulator in
                try await emulator.handle(request).without(isLost.isOn ? ["due", "extra"] : [])
            }
        ) { world in
            try world.emulator.seed(
                [["id": "a", "text": "milk", "due": Self.due, "extra": "x", "version": "djE="]],
                in: "TodoItem"
            )
            try await world.laptop.pull()
            #expect(try await world.laptop.table.read("a")?["due"]?.isNull == false)
            #expect(try await world.laptop.table.read("a")?["extra"] == "x")
            isLost.isOn = true
            try await body(world, world.laptop)
        }
    }

    @Test(
        "a column that rows have shown and that is absent is null, an undeclared one disappears; neither is sent back",
        arguments: DatasyncDialect.allCases
    )
    func absentColumns(_ dialect: DatasyncDialect) async throws {
        try await shared(dialect) { world, laptop in
            try world.emulator.seed([["id": "a", "text": "cream"]], in: "TodoItem")
            #expect(try await laptop.pull().received == 1)
            let row = try #require(try await laptop.table.read("a"))
            #expect(row["text"] == "cream" && row["due"]?.isNull ?? true && row["extra"] == nil)
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            world.emulator.clearRequests()
            #expect(try await laptop.context.push().pushed == 1)
            let body = String(decoding: try #require(world.emulator.requests.first).request.body, as: UTF8.self)
            #expect(!body.contains("2026-01-02") && !body.contains("extra"))
        }
    }

    @Test("the answer to a change takes the row's place as a pulled row does", arguments: DatasyncDialect.allCases)
    func answers(_ dialect: DatasyncDialect) async throws {
        try await shared(dialect) { world, laptop in
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            #expect(try await laptop.context.push().pushed == 1)
            let row = try #require(try await laptop.table.read("a"))
            #expect(row["text"] == "mine" && row["due"]?.isNull ?? true && row["extra"] == nil)
        }
    }

    @Test("the server's row, taken after a conflict, takes the row's place", arguments: DatasyncDialect.allCases)
    func takenRow(_ dialect: DatasyncDialect) async throws {
        try await shared(dialect) { world, laptop in
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try world.emulator.seed([["id": "a", "text": "theirs"]], in: "TodoItem")
            #expect(try await laptop.context.push().conflicts.count == 1)
            try await laptop.context.resolve(try await laptop.onlyError(), with: .takeServer)
            let row = try #require(try await laptop.table.read("a"))
            #expect(row["text"] == "theirs" && row["due"]?.isNull ?? true && row["extra"] == nil)
        }
    }

    @Test("mine kept over it does not bring back an undeclared column", arguments: DatasyncDialect.allCases)
    func keptOver(_ dialect: DatasyncDialect) async throws {
        try await shared(dialect) { world, laptop in
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try world.emulator.seed([["id": "a", "text": "theirs"]], in: "TodoItem")
            #expect(try await laptop.context.push().conflicts.count == 1)
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            #expect(try await laptop.table.read("a")?["extra"] == nil)
            world.emulator.clearRequests()
            #expect(try await laptop.context.push().pushed == 1)
            let body = String(decoding: try #require(world.emulator.requests.first).request.body, as: UTF8.self)
            #expect(body.contains("mine") && !body.contains("extra"))
        }
    }

    @Test("other content under a version that is known is taken", arguments: DatasyncDialect.allCases)
    func otherContent(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let before: [String: JSONValue] = [
                "id": "a", "text": "milk", "version": "djE=", "updatedAt": "2026-01-02T03:04:05.000Z",
            ]
            try world.emulator.seed([before], in: "TodoItem")
            let laptop = world.laptop
            try await laptop.pull()
            try world.emulator.seed([before.merging(["text": "MILK", "extra": "x"]) { $1 }], in: "TodoItem")
            #expect(try await laptop.context.pull(laptop.table.query, options: .init(reconciles: true)).received == 1)
            #expect(try await laptop.text("a") == "MILK")
            #expect(try await laptop.context.pull(laptop.table.query, options: .init(reconciles: true)).received == 0)
            #expect(try await laptop.pull().received == 0)
        }
    }

    @Test(
        "a column that no row has shown keeps its value, and the status names it",
        arguments: DatasyncDialect.allCases
    )
    func unshown(_ dialect: DatasyncDialect) async throws {
        let note = ColumnDefinition("note", .string)
        try await SyncWorld.with(
            dialect,
            laptopColumns: [note],
            // The server's type has no such column: it drops it without a word.
            answeringLaptop: SyncWorld.StandIn { try await $1.handle($0).without(["note"]) }
        ) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk", "note": "mine"], id: "a")
            #expect(try await laptop.context.status().unshownColumns.isEmpty, "no row came")
            _ = try await laptop.context.push()
            #expect(try await laptop.context.status().unshownColumns["TodoItem"]?.contains("note") == true)
            try await world.phone.pull()
            try await world.phone.table.update(Record(id: "a", ["text": "cream"]))
            _ = try await world.phone.context.push()
            #expect(try await laptop.pull().received == 1)
            #expect(try await laptop.table.read("a")?["note"] == "mine")
            #expect(try await laptop.text("a") == "cream")
        }
    }

    @Test(
        "a column that no row has shown keeps its value when a change is given up, then and after later pulls",
        arguments: [true, false],
        [true, false]
    )
    func unshownGivenUp(_ isEditedUnderWay: Bool, _ isDiscarded: Bool) async throws {
        try await SyncWorld.with(
            .datasync,
            laptopColumns: [ColumnDefinition("note", .string)],
            answeringLaptop: SyncWorld.StandIn { try await $1.handle($0).without(["note"]) }
        ) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk", "note": "mine"], id: "a")
            let edit = Record(id: "a", ["text": "eggs", "note": "other"])
            if isEditedUnderWay { laptop.server.intercept(.whileUnderWay { try await laptop.table.update(edit) }) }
            _ = try await laptop.context.push()
            if !isEditedUnderWay { try await laptop.table.update(edit) }
            if isDiscarded {
                try await laptop.context.discard(try #require(try await laptop.context.operations().first))
            } else {
                try await laptop.table.revert("a")
            }
            #expect(try await laptop.text("a") == "milk")
            #expect(try await laptop.table.read("a")?["note"] == "mine")
            #expect(try await laptop.context.status().unshownColumns["TodoItem"]?.contains("note") == true)
            try await world.phone.pull()
            try await world.phone.table.update(Record(id: "a", ["text": "cream"]))
            _ = try await world.phone.context.push()
            try await laptop.pull()
            #expect(try await laptop.text("a") == "cream")
            #expect(try await laptop.table.read("a")?["note"] == "mine")
        }
    }

    @Test("a column that no row has shown keeps its value when an insert that was kept over another row is given up")
    func unshownInsertKeptOver() async throws {
        try await SyncWorld.with(
            .datasync,
            laptopColumns: [ColumnDefinition("note", .string)],
            answeringLaptop: SyncWorld.StandIn { try await $1.handle($0).without(["note"]) }
        ) { world in
            let laptop = world.laptop
            try await world.phone.table.insert(["text": "theirs"], id: "a")
            _ = try await world.phone.context.push()
            try await laptop.table.insert(["text": "mine", "note": "mine"], id: "a")
            #expect(try await laptop.context.push().conflicts.count == 1)
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            try await laptop.table.revert("a")
            #expect(try await laptop.text("a") == "theirs")
            #expect(try await laptop.table.read("a")?["note"] == "mine")
            try await world.phone.table.update(Record(id: "a", ["text": "cream"]))
            _ = try await world.phone.context.push()
            try await laptop.pull()
            #expect(try await laptop.text("a") == "cream")
            #expect(try await laptop.table.read("a")?["note"] == "mine")
        }
    }

    @Test("a column that no row has shown keeps its value when a change of a row that was kept is given up under way")
    func unshownKeptLocal() async throws {
        try await SyncWorld.with(
            .datasync,
            laptopColumns: [ColumnDefinition("note", .string)],
            answeringLaptop: SyncWorld.StandIn { try await $1.handle($0).without(["note"]) }
        ) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk", "note": "mine"], id: "a")
            _ = try await laptop.context.push()
            try await world.phone.pull()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            #expect(try await laptop.context.push().conflicts.count == 1)
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepLocal())
            try await laptop.table.update(Record(id: "a", ["text": "later"]))
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await laptop.table.revert("a")
            #expect(try await laptop.text("a") == "theirs")
            #expect(try await laptop.table.read("a")?["note"] == "mine")
            #expect(try await laptop.context.status().unshownColumns["TodoItem"]?.contains("note") == true)
        }
    }

    @Test("giving up a change takes a value back from a column that no row has shown, and that had none")
    func unshownNull() async throws {
        try await SyncWorld.with(
            .datasync,
            laptopColumns: [ColumnDefinition("note", .string)],
            answeringLaptop: SyncWorld.StandIn { try await $1.handle($0).without(["note"]) }
        ) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "a")
            _ = try await laptop.context.push()
            try await laptop.table.update(Record(id: "a", ["note": "new"]))
            try await laptop.table.revert("a")
            #expect(try await laptop.table.read("a")?["note"]?.isNull ?? true)
        }
    }

    @Test("a lost answer is recognised although the server does not have a column", arguments: DatasyncDialect.allCases)
    func unshownLost(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(
            dialect,
            laptopColumns: [ColumnDefinition("note", .string)],
            answeringLaptop: SyncWorld.StandIn { try await $1.handle($0).without(["note"]) }
        ) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk", "note": "mine"], id: "a")
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.isEmpty)
        }
    }
}

extension EmulatorResponse {
    /// The answer of a server whose type does not have these columns.
    func without(_ columns: [String]) throws -> EmulatorResponse {
        guard !columns.isEmpty, !body.isEmpty else { return self }
        var answer = self
        var text = String(decoding: body, as: UTF8.self)
        for column in columns {
            let member = try Regex(#""\#(column)":("[^"]*"|null)"#)
            text = text.replacing(member, with: "")
        }
        while text.contains(",,") { text = text.replacing(",,", with: ",") }
        answer.body = Data(text.replacing("{,", with: "{").replacing(",}", with: "}").utf8)
        return answer
    }
}
