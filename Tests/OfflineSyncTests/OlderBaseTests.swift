import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

@Suite("An edit of an older state, saved while a change is under way")
struct OlderBaseTests {
    /// What becomes of the request that is under way while the editor saves.
    enum Fate: CaseIterable {
        case taken
        case lost
        case recognised
    }

    @Test("does not go over what others wrote in between: it is a conflict", arguments: Fate.allCases)
    func inFlight(_ fate: Fate) async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let (phone, laptop) = (world.phone, world.laptop)
            // The editor is opened; then somebody else changes the row, which is pulled.
            var seen = try #require(try await laptop.table.read("a"))
            seen["text"] = "of the editor"
            try await phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await phone.context.push()
            try await laptop.pull()
            try await laptop.table.update(Record(id: "a", ["complete": true]))
            let editorSaves: InterceptedServer.Interception = .whileUnderWay { [seen] in
                try await laptop.table.update(seen)
            }
            switch fate {
            case .taken: laptop.server.intercept(editorSaves)
            case .lost:
                laptop.server.intercept(.answerLost)
                _ = try await syncErrorCode { _ = try await laptop.context.push() }
                try await laptop.table.update(seen)
            case .recognised:
                laptop.server.intercept(.answerLost)
                _ = try await syncErrorCode { _ = try await laptop.context.push() }
                try await laptop.table.update(Record(id: "a", ["due": .date(Timestamp(milliseconds: 0))]))
                laptop.server.intercept(editorSaves)
            }
            _ = try await laptop.context.push()
            _ = try await laptop.context.push()
            #expect(world.onServer() == ["a": "theirs"])
            #expect(try await laptop.onlyError().serverItem?["text"] == "theirs")
        }
    }

    /// A merge takes in what others wrote; an editor that was opened before has not seen it.
    @Test("does not go over what a merge has taken in", arguments: [true, false])
    func merged(_ wasSent: Bool) async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let (phone, laptop) = (world.phone, world.laptop)
            var seen = try #require(try await laptop.table.read("a"))
            seen["text"] = "of the editor"
            try await phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await phone.context.push()
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            _ = try await laptop.context.push()
            let merged = ConflictResolution.keepMerged(Record(id: "a", ["text": "mine and theirs"]))
            try await laptop.context.resolve(try await laptop.onlyError(), with: merged)
            if wasSent { _ = try await laptop.context.push() }
            try await laptop.table.update(seen)
            _ = try await laptop.context.push()
            #expect(world.onServer() == ["a": wasSent ? "mine and theirs" : "theirs"])
            #expect(try await laptop.onlyError().item?["text"] == "of the editor")
        }
    }
}
