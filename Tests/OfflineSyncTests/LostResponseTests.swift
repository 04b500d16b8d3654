import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import OfflineSync
import ReferenceStore
import SyncContract
import Testing

@Suite("Lost answers")
struct LostResponseTests {
    @Test("deleting an insert that met somebody else's row leaves that row alone", arguments: DatasyncDialect.allCases)
    func conflictedInsertDeleted(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.phone.table.insert(["text": "theirs"], id: "a")
            _ = try await world.phone.context.push()
            try await world.laptop.table.insert(["text": "mine"], id: "a")
            #expect(try await world.laptop.context.push().conflicts.count == 1)
            try await world.laptop.table.delete("a")
            _ = try await world.laptop.context.push()
            #expect(world.onServer() == ["a": "theirs"])
        }
    }

    @Test("deleting an insert whose answer was lost does not delete what another device made of it")
    func lostInsertChangedDeleted() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.laptop.table.insert(["text": "milk"], id: "a")
            world.laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await world.laptop.context.push() }
            try await world.phone.pull()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await world.laptop.table.delete("a")
            _ = try await world.laptop.context.push()
            #expect(world.onServer() == ["a": "theirs"])
        }
    }

    @Test("an edit after a lost answer is not a conflict with oneself", arguments: [true, false])
    func lostThenEdited(_ insert: Bool) async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            if insert {
                try await laptop.table.insert(["text": "milk"], id: "a")
            } else {
                try await world.shareItem()
                try await laptop.table.update(Record(id: "a", ["text": "cream"]))
            }
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await laptop.table.update(Record(id: "a", ["text": "butter"]))
            #expect(try await laptop.context.push().conflicts.isEmpty)
        }
    }

    @Test("null here and false there are different changes", arguments: DatasyncDialect.allCases)
    func nullAgainstFalse(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.phone.table.insert(["text": "milk", "complete": true], id: "a")
            try await world.phone.pull()
            try await world.laptop.pull()
            try await world.phone.table.update(Record(id: "a", ["complete": false]))
            _ = try await world.phone.context.push()
            try await world.laptop.table.update(Record(id: "a", ["complete": .null]))
            #expect(try await world.laptop.context.push().conflicts.count == 1)
        }
    }

    @Test(
        "several attempts without an answer, each with other content: whichever arrived is one's own",
        arguments: [true, false]
    )
    func severalAttempts(_ deletes: Bool) async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "first"], id: "a")
            laptop.server.intercept(.answerLost, .requestLost, .requestLost)
            for text in ["second", "third", "fourth"] {
                _ = try await syncErrorCode { _ = try await laptop.context.push() }
                try await laptop.table.update(Record(id: "a", ["text": .string(text)]))
            }
            if deletes { try await laptop.table.delete("a") }
            let report = try await laptop.context.push()
            #expect(report.conflicts.isEmpty && report.pushed == 1)
            #expect(world.onServer() == (deletes ? [:] : ["a": "fourth"]))
        }
    }

    @Test("after a lost answer and a conflict, an edit does not undo somebody's revert")
    func revertThenEdit() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let (phone, laptop) = (world.phone, world.laptop)
            try await laptop.table.update(Record(id: "a", ["text": "cream"]))
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await phone.pull()
            try await phone.table.update(Record(id: "a", ["text": "milk"]))
            _ = try await phone.context.push()
            #expect(try await laptop.context.push().conflicts.count == 1)
            try await laptop.table.update(Record(id: "a", ["complete": true]))
            #expect(try await laptop.context.push().conflicts.count == 1)
            #expect(world.onServer() == ["a": "milk"])
        }
    }

    @Test("a server that writes the same value otherwise has taken it, and not somebody else")
    func otherSpelling() async throws {
        let columns: [ColumnDefinition] = [.init("brand", .string), .init("extra", .json)]
        let table = TableDefinition("Coupon", columns: columns)
        let emulator = Emulator(
            EmulatorConfiguration(tables: [
                EmulatedTableDefinition("Coupon", columns: ["brand": .uuid.optional, "extra": .json.optional])
            ])
        )
        let spelled = #"{"a":[1.50,"\u00e9"],"b":null}"#
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator) { request, emulator in
                var response = try await emulator.handle(request)
                let body = String(decoding: response.body, as: UTF8.self)
                response.body = Data(
                    body.replacing(spelled, with: #"{ "b": null, "a": [1.5, "é"] }"#).utf8
                )
                return response
            }
        )
        let server = InterceptedServer(remote)
        let context = SyncContext(store: MemoryStore(try StoreSchema([table])), remote: server)
        let coupons = try context.table("Coupon")
        let brand = "6F9619FF-8B86-D011-B42D-00C04FC964FF"
        let extra = try #require(JSONText(spelled))
        try await coupons.insert(["brand": .string(brand), "extra": .json(extra)], id: "a")
        server.intercept(.answerLost)
        _ = try await syncErrorCode { _ = try await context.push() }
        let report = try await context.push()
        #expect(report.conflicts.isEmpty && report.pushed == 1)
        #expect(
            emulator.rows(in: "Coupon").first?["brand"]?.string == brand.lowercased(),
            "the server spells otherwise"
        )
        #expect(try await coupons.read("a")?["extra"] != .json(extra), "and so it came")
    }

    @Test("is recognised where the server writes UUIDs in the other case", arguments: [true, false])
    func otherCase(_ isUUID: Bool) async throws {
        let text = isUUID ? "6A52383E-D409-46A7-8C1F-00FFA0B1C2D3" : "6A52383E-D409-46A7-8C1F-00FFA0B1C2DG"
        try await SyncWorld.with(
            .datasync,
            answeringLaptop: SyncWorld.StandIn { request, emulator in
                var answer = try await emulator.handle(request)
                let body = String(decoding: answer.body, as: UTF8.self)
                answer.body = Data(body.replacing(text, with: text.lowercased()).utf8)
                return answer
            }
        ) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": .string(text)], id: "a")
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            let report = try await laptop.context.push()
            #expect(report.conflicts.isEmpty == isUUID)
            #expect(try await laptop.context.operations().isEmpty == isUUID)
        }
    }
}
