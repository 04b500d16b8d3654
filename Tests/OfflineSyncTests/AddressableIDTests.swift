import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

@Suite("Ids that no address can name")
struct AddressableIDTests {
    @Test(
        "are refused for new items",
        arguments: ["", "a/b", ".", "..", "zażółć", "日本", "a\nb", "a\u{7F}b", "😀"]
    )
    func refused(_ id: String) async throws {
        try await SyncWorld.with(.datasync) { world in
            let code = try await syncErrorCode { try await world.laptop.table.insert(["text": "x"], id: id) }
            #expect(code == .invalidItemID)
            #expect(try await world.laptop.context.operations().isEmpty)
        }
    }

    @Test(
        "come with a pull; a change of such a row is parked with an explanation, and the others go on",
        arguments: DatasyncDialect.allCases,
        ["a/b", "a/\u{301}b", "..", "a\u{1}b"]
    )
    func pulled(_ dialect: DatasyncDialect, _ id: String) async throws {
        for deletes in [true, false] {
            try await SyncWorld.with(dialect) { world in
                try world.emulator.seed([["id": .string(id), "text": "theirs"]], in: "TodoItem")
                let laptop = world.laptop
                try await laptop.pull()
                #expect(try await laptop.text(id) == "theirs")
                if deletes {
                    try await laptop.table.delete(id)
                } else {
                    try await laptop.table.update(Record(id: .string(id), ["text": "mine"]))
                }
                try await laptop.table.insert(["text": "other"], id: "z")
                let report = try await laptop.context.push()
                #expect(report.pushed == 1 && report.requests == 1)
                let error = try #require(report.failures.first)
                #expect(error.itemID == id && error.message.contains("address"))
                try await laptop.context.resolve(error, with: .takeServer)
                try await laptop.pull()
                #expect(try await laptop.texts() == world.onServer())
                #expect(try await laptop.text(id) == "theirs")
            }
        }
    }

    @Test("an id beyond ASCII that a server has made can be changed", arguments: DatasyncDialect.allCases)
    func beyondASCII(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try world.emulator.seed([["id": "zażółć", "text": "theirs"]], in: "TodoItem")
            let laptop = world.laptop
            try await laptop.pull()
            try await laptop.table.update(Record(id: "zażółć", ["text": "mine"]))
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["zażółć": "mine"])
        }
    }
}
