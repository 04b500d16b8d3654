import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

/// What an address answers where no such table is.
enum Elsewhere: CaseIterable {
    case notFound
    case gone
    case nothing
    case page

    func answer(_ request: EmulatorRequest) -> EmulatorResponse {
        switch self {
        case .notFound: EmulatorResponse(404)
        case .gone: EmulatorResponse(410)
        case .nothing: EmulatorResponse(200)
        case .page: .html(404, "<html>There is nothing here</html>")
        }
    }
}

@Suite("An address without the table")
struct WrongAddressTests {
    /// Lends a world whose laptop has an item and, once the switch is on, talks to another address.
    private func moved(
        _ dialect: DatasyncDialect,
        to elsewhere: Elsewhere,
        _ body: (SyncWorld, Switch) async throws -> Void
    ) async throws {
        let isMoved = Switch()
        try await SyncWorld.with(
            dialect,
            answeringLaptop: SyncWorld.StandIn { isMoved.isOn ? elsewhere.answer($0) : try await $1.handle($0) }
        ) { world in
            try await world.shareItem()
            try await body(world, isMoved)
        }
    }

    @Test(
        "a push there changes nothing and names the address",
        arguments: DatasyncDialect.allCases,
        Elsewhere.allCases
    )
    func push(_ dialect: DatasyncDialect, _ elsewhere: Elsewhere) async throws {
        for kind in [TableOperation.Kind.insert, .update, .delete] {
            try await moved(dialect, to: elsewhere) { world, isMoved in
                let laptop = world.laptop
                switch kind {
                case .insert: try await laptop.table.insert(["text": "bread"], id: "b")
                case .update: try await laptop.table.update(Record(id: "a", ["text": "mine"]))
                case .delete: try await laptop.table.delete("a")
                }
                let before = try await laptop.context.operations()
                let rows = try await laptop.texts()
                isMoved.isOn = true
                let error = await #expect(throws: SyncError.self) { _ = try await laptop.context.push() }
                #expect(error.map { "\($0.code)" } == "pushAbortedAddress")
                #expect(error?.description.contains("https://emulator.example/tables/TodoItem") == true)
                let after = try await laptop.context.operations()
                #expect(after.map(\.kind) == before.map(\.kind) && after.map(\.state) == before.map(\.state))
                // That something was sent, and may have arrived somewhere, is remembered.
                #expect(after.map(\.itemID) == before.map(\.itemID))
                #expect(after.map(\.baseVersion) == before.map(\.baseVersion))
                #expect(after.map(\.editCounter) == before.map(\.editCounter))
                #expect(try await laptop.context.operationErrors().isEmpty)
                #expect(try await laptop.texts() == rows)

                isMoved.isOn = false
                #expect(try await laptop.context.push().pushed == 1)
                #expect(try await laptop.texts() == world.onServer())
            }
        }
    }

    @Test("a delete of an attempted insert is not dropped there", arguments: Elsewhere.allCases)
    func attemptedInsert(_ elsewhere: Elsewhere) async throws {
        try await moved(.datasync, to: elsewhere) { world, isMoved in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "bread"], id: "b")
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await laptop.table.delete("b")
            isMoved.isOn = true
            await #expect(throws: SyncError.self) { _ = try await laptop.context.push() }
            #expect(try await laptop.context.operations().map(\.kind) == [.delete])
            isMoved.isOn = false
            _ = try await laptop.context.push()
            #expect(world.onServer() == ["a": "milk"])
        }
    }

    @Test(
        "a row that is to be fetched again is not taken for deleted there",
        arguments: DatasyncDialect.allCases,
        Elsewhere.allCases
    )
    func takeServer(_ dialect: DatasyncDialect, _ elsewhere: Elsewhere) async throws {
        try await moved(dialect, to: elsewhere) { world, isMoved in
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            world.emulator.inject(
                .respond(EmulatorResponse(400)) { $0.method == "PUT" || $0.method == "PATCH" }
            )
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .takeServer)
            isMoved.isOn = true
            let error = await #expect(throws: SyncError.self) { try await laptop.pull() }
            #expect(error?.code == .pullAborted)
            #expect(try await laptop.text("a") != nil)
            isMoved.isOn = false
            try await laptop.pull()
            #expect(try await laptop.text("a") == "milk")
        }
    }

    @Test("nor is one that is to be asked for by its id", arguments: DatasyncDialect.allCases, Elsewhere.allCases)
    func marked(_ dialect: DatasyncDialect, _ elsewhere: Elsewhere) async throws {
        try await moved(dialect, to: elsewhere) { world, isMoved in
            let laptop = world.laptop
            try await laptop.store.upsert(
                [Record(id: "mark", ["table": "TodoItem", "keyType": 1_000, "key": "a"])],
                table: SystemTables.configuration.name
            )
            isMoved.isOn = true
            let error = await #expect(throws: SyncError.self) { try await laptop.pull() }
            #expect(error?.code == .pullAborted)
            #expect(try await laptop.text("a") != nil)
        }
    }

    @Test("a table that answers is asked once, and then what it says of rows is believed")
    func confirmedOnce() async throws {
        try await SyncWorld.with(.datasync, keepsTombstones: false) { world in
            try await world.shareItem("a")
            try await world.shareItem("b")
            try await world.shareItem("c")
            for id in ["a", "b", "c"] {
                try await world.phone.table.delete(id)
                try await world.laptop.table.delete(id)
            }
            _ = try await world.phone.context.push()
            let report = try await world.laptop.context.push()
            #expect(report.pushed == 3)
            // Each deletion, whether its row is there, and the table.
            #expect(report.requests == 7)
        }
    }

    @Test("a table that is there and has lost a row: the deletion is done, the change in conflict")
    func missingRow() async throws {
        try await SyncWorld.with(.datasync, keepsTombstones: false) { world in
            for id in ["a", "b"] { try await world.shareItem(id) }
            for id in ["a", "b"] { try await world.phone.table.delete(id) }
            _ = try await world.phone.context.push()
            try await world.laptop.table.delete("a")
            try await world.laptop.table.update(Record(id: "b", ["text": "mine"]))
            let report = try await world.laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.map(\.isMissingOnServer) == [true])
        }
    }

    @Test("a refusal of the method is not about the change where there is no table", arguments: [405, 410])
    func methodNotAllowed(_ status: Int) async throws {
        try await SyncWorld.with(
            .datasync,
            answeringLaptop: SyncWorld.StandIn { request, _ in
                EmulatorResponse(request.method == "GET" ? 404 : status)
            }
        ) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "a")
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedAddress)
            let status = try await laptop.context.status()
            #expect(status.pending == 1 && status.failed == 0)
        }
    }
}
