import DatasyncEmulator
import DatasyncHTTP
import Foundation
import OfflineSync
import SyncContract
import Synchronization
import Testing

/// Servers that bring deleted rows back in their own ways, put in front of an emulator.
private enum OtherServer: CaseIterable {
    /// The predecessor in protocol 3: 410 to the restoring PUT, a PATCH with `"deleted": false` restores.
    case predecessor
    /// The same, and it refuses a PATCH with more than that.
    case predecessorRefusingColumns
    /// The predecessor in protocol 2: 405 to the restoring POST.
    case predecessor2
    /// The Node server from 4.0 on: 404 to a change or a deletion of a deleted row.
    case node4

    var dialect: DatasyncDialect {
        switch self {
        case .predecessor, .predecessorRefusingColumns: .datasync
        case .predecessor2, .node4: .azureMobileApps
        }
    }

    func answer(_ request: EmulatorRequest, _ emulator: Emulator) async throws -> EmulatorResponse {
        let id = request.path.split(separator: "/").dropFirst(2).first.map(String.init)
        let isDeleted = emulator.rows(in: "TodoItem")
            .contains { $0["id"]?.string == id && $0["deleted"] == .bool(true) }
        switch (self, request.method) {
        case (.predecessor, "PUT") where isDeleted, (.predecessorRefusingColumns, "PUT") where isDeleted:
            return EmulatorResponse(410)
        case (.predecessor, "PATCH"), (.predecessorRefusingColumns, "PATCH"):
            let body = String(decoding: request.body, as: UTF8.self)
            guard body.contains(#""deleted":false"#) else { return EmulatorResponse(410) }
            let isAlone = body == #"{"deleted":false}"#
            guard self == .predecessor || isAlone else { return EmulatorResponse(500) }
            var restore = request
            restore.method = "PUT"
            restore.query = "__includedeleted=true"
            if isAlone { restore.body = Data(#"{"id":"a","text":"milk","complete":false}"#.utf8) }
            return try await emulator.handle(restore)
        case (.predecessor2, "POST") where id != nil:
            return EmulatorResponse(405, headers: ["Allow": "DELETE, GET, PATCH, PUT"])
        case (.predecessor2, "PATCH"):
            let body = String(decoding: request.body, as: UTF8.self)
            var change = request
            change.body = Data(body.replacing(#","deleted":false"#, with: "").utf8)
            guard isDeleted else { return try await emulator.handle(change) }
            guard change.body != request.body else { return EmulatorResponse(410) }
            var restore = request
            restore.method = "POST"
            restore.body = Data()
            let restored = try await emulator.handle(restore)
            guard restored.status == 201 else { return restored }
            change.headers["If-Match"] = nil
            return try await emulator.handle(change)
        case (.node4, "PATCH") where isDeleted, (.node4, "DELETE") where isDeleted:
            return EmulatorResponse(404)
        default: return try await emulator.handle(request)
        }
    }
}

private struct Cut: Error {}

@Suite("Bringing back a row that was deleted elsewhere")
struct RestoringTests {
    /// Lends a world in which the laptop's change has met a deletion.
    private func deleted(
        _ server: OtherServer,
        _ body: (SyncWorld, SyncWorld.Device) async throws -> Void
    ) async throws {
        try await SyncWorld.with(server.dialect, answeringLaptop: SyncWorld.StandIn { try await server.answer($0, $1) })
        { world in
            try await world.shareItem()
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "2026-01-02T03:04:05+02:00"]))
            _ = try await laptop.context.push()
            try await body(world, laptop)
        }
    }

    @Test("mine comes back with one decision", arguments: OtherServer.allCases)
    fileprivate func keepMine(_ server: OtherServer) async throws {
        try await deleted(server) { world, laptop in
            let error = try await laptop.onlyError()
            #expect(error.isConflict && error.serverItem?.isDeleted == true)
            try await laptop.context.resolve(error, with: .keepMine)
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.isEmpty && report.failures.isEmpty)
            #expect(world.onServer() == ["a": "2026-01-02T03:04:05+02:00"])
            #expect(try await laptop.text("a") == "2026-01-02T03:04:05+02:00")
            try await laptop.table.update(Record(id: "a", ["text": "on"]))
            #expect(try await laptop.context.push().pushed == 1, "the version is the server's")
        }
    }

    @Test("mine comes back at the emulated predecessor", arguments: [DatasyncDialect.datasync, .azureMobileApps])
    func emulatedPredecessor(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect, edition: .predecessor) { world in
            try await world.shareItem()
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.isEmpty && report.failures.isEmpty)
            #expect(world.onServer() == ["a": "mine"])
            try await laptop.table.update(Record(id: "a", ["text": "on"]))
            #expect(try await laptop.context.push().pushed == 1, "the version is the server's")
        }
    }

    /// Its PATCH takes texts that look like dates for some, and writes them in a form of its own.
    @Test(
        "a change is recognised whose answer was lost, though the predecessor has written its text anew",
        arguments: [
            ("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05+00:00"),
            ("2026-01-02T03:04:05.120Z", "2026-01-02T03:04:05.12Z"), ("2026-01-02T03:04:05", "2026-01-02T03:04:05"),
        ]
    )
    func writtenAnew(_ text: String, _ written: String) async throws {
        try await SyncWorld.with(.azureMobileApps, edition: .predecessor) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": .string(text)]))
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            #expect(world.onServer() == ["a": written])
            try await laptop.table.update(Record(id: "a", ["complete": true]))
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(world.onServer() == ["a": written])
        }
    }

    @Test("an answer that was lost on the way is recognised", arguments: OtherServer.allCases)
    fileprivate func lostAnswer(_ server: OtherServer) async throws {
        try await deleted(server) { world, laptop in
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.isEmpty)
            #expect(world.onServer() == ["a": "2026-01-02T03:04:05+02:00"])
        }
    }

    /// A world in which the phone has deleted what the laptop has, and the laptop's restores are cut as long as one says.
    private func deletedByPhone(_ body: (SyncWorld, SyncWorld.Device, Switch) async throws -> Void) async throws {
        let isCut = Switch()
        try await SyncWorld.with(
            .azureMobileApps,
            answeringLaptop: SyncWorld.StandIn { request, emulator in
                if isCut.isOn, request.method == "POST" { throw Cut() }
                return try await emulator.handle(request)
            }
        ) { world in
            try await world.shareItem()
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            try await body(world, world.laptop, isCut)
        }
    }

    @Test("when only the first half was carried out, the rest follows without another decision")
    func half() async throws {
        try await deletedByPhone { world, laptop, isCut in
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            isCut.isOn = true
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedNetwork)
            #expect(world.onServer().isEmpty, "what was deleted is not live for anybody in between")
            isCut.isOn = false
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.isEmpty)
            #expect(world.onServer() == ["a": "mine"])
        }
    }

    @Test("a change of a group that is half brought back still holds back what its group has changed later")
    func halfOfAGroup() async throws {
        try await deletedByPhone { world, laptop, isCut in
            let table = laptop.table
            try await laptop.context.write { tx in
                try tx.update(Record(id: "a", ["text": "mine"]), in: table)
                try tx.insert(["text": "later"], id: "b", into: table)
            }
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            isCut.isOn = true
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedNetwork)
            #expect(try await laptop.context.operations().map(\.groups.count) == [1, 1])
            isCut.isOn = false
            #expect(try await laptop.context.push().pushed == 2)
            #expect(world.onServer() == ["a": "mine", "b": "later"])
        }
    }

    @Test("a deletion of what is deleted already is done", arguments: OtherServer.allCases)
    fileprivate func bothDeleted(_ server: OtherServer) async throws {
        try await SyncWorld.with(server.dialect, answeringLaptop: SyncWorld.StandIn { try await server.answer($0, $1) })
        { world in
            try await world.shareItem()
            for device in [world.phone, world.laptop] { try await device.table.delete("a") }
            _ = try await world.phone.context.push()
            let report = try await world.laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.isEmpty)
        }
    }
}
