import DatasyncEmulator
import DatasyncHTTP
import Foundation
import OfflineSync
import SyncContract
import Testing

/// Protocol 3 has no such property: the emulator takes it for a column, as the server does, and a row that is written without
/// it has none afterwards.
@Suite("A column createdAt of a service of protocol 3")
struct CreatedAtColumnTests {
    /// Finer than a millisecond.
    private static let instant: JSONValue = "2024-01-02T03:04:05.1234567Z"

    private static func seed(_ emulator: Emulator, isDeleted: Bool = false) throws {
        let row: [String: JSONValue] = [
            "id": "a", "text": "milk", "createdAt": instant, "deleted": .bool(isDeleted),
        ]
        try emulator.seed([row], in: "TodoItem")
    }

    /// What the server has of the row that counts here.
    private func expect(_ text: JSONValue, on emulator: Emulator, _ comment: Comment? = nil) {
        let row = emulator.rows(in: "TodoItem").first
        #expect(row?["text"] == text, comment)
        #expect(row?["createdAt"] == Self.instant, comment)
        #expect(row?["deleted"] == .bool(false), comment)
    }

    @Test(
        "keeps what it has to the last digit when another column is changed here, whatever that is called here",
        arguments: ["text", "content"]
    )
    func update(_ name: String) async throws {
        try await SyncWorld.with(.datasync, laptopTable: todoTable(callingText: name)) { world in
            try Self.seed(world.emulator)
            let laptop = world.laptop
            try await laptop.pull()
            for text in ["bread", "butter"] {
                try await laptop.table.update(Record(id: "a", [name: .string(text)]))
                #expect(try await laptop.context.push().pushed == 1)
                expect(.string(text), on: world.emulator)
            }
        }
    }

    @Test("keeps it when the change brings the row back over a deletion")
    func restoring() async throws {
        try await SyncWorld.with(.datasync) { world in
            try Self.seed(world.emulator)
            let laptop = world.laptop
            try await laptop.pull()
            try await laptop.table.update(Record(id: "a", ["text": "bread"]))
            try Self.seed(world.emulator, isDeleted: true)
            #expect(try await laptop.context.push().conflicts.count == 1)
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            #expect(try await laptop.context.push().pushed == 1)
            expect("bread", on: world.emulator)
        }
    }

    @Test("keeps it when the row is deleted here, and the deletion taken back after it was sent")
    func undoneDeletion() async throws {
        try await SyncWorld.with(.datasync) { world in
            try Self.seed(world.emulator)
            let laptop = world.laptop
            try await laptop.pull()
            try await laptop.table.delete("a")
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await laptop.table.undoDelete("a")
            #expect(try await laptop.context.push().conflicts.isEmpty)
            expect("milk", on: world.emulator)
        }
    }

    @Test("is the server's to set when a row is inserted, and the own row is recognised all the same")
    func setByServer() async throws {
        let setting = SyncWorld.StandIn { request, emulator in
            guard request.method == "POST" else { return try await emulator.handle(request) }
            var row = try JSONValue(parsing: request.body).object ?? [:]
            #expect(row["createdAt"] == nil, "nothing is sent that is not known")
            row["createdAt"] = Self.instant
            var whole = request
            whole.body = JSONValue.object(row).encoded
            return try await emulator.handle(whole)
        }
        try await SyncWorld.with(.datasync, answeringLaptop: setting) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "a")
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            #expect(try await laptop.context.push().conflicts.isEmpty)
            #expect(try await laptop.context.operations().isEmpty)
            expect("milk", on: world.emulator)
            try await laptop.table.update(Record(id: "a", ["text": "bread"]))
            #expect(try await laptop.context.push().pushed == 1)
            expect("bread", on: world.emulator)
        }
    }

    @Test("keeps it when the row is patched, replaced by what was read, and brought back online")
    func online() async throws {
        let world = try OnlineWorld(.datasync)
        try Self.seed(world.emulator)
        let table = try world.context.remoteTable("TodoItem")
        try await table.patch("a", ["text": "bread"])
        expect("bread", on: world.emulator, "patched")
        var row = try #require(try await table.read("a"))
        row["text"] = "butter"
        try await table.update(row)
        expect("butter", on: world.emulator, "replaced")
        try await table.delete("a")
        try await table.undelete("a")
        expect("butter", on: world.emulator, "brought back")
    }
}
