import RemoteContract
import SyncContract
import Testing

@testable import DatasyncHTTP

@Suite("The cursors of pulls that could go back")
struct ReturningCursorTests {
    @Test("do not set the cursor back where only their first page takes long")
    func slowFirstPage() async throws {
        let server = StampServer()
        var mirror = try Mirror(server)
        server.with { $0.write("a") }
        server.with { $0.pass(milliseconds: 60_000) }
        server.with { $0.write("b") }
        try await mirror.pull()
        let before = try #require(mirror.cursor)
        server.with { state in
            state.pass(milliseconds: 5_000)
            state.bodyDelay = 20_000
        }
        try await mirror.pull()
        #expect(mirror.cursor == before)
        server.with { state in
            state.bodyDelay = 0
            state.pass(milliseconds: 30_000)
        }
        try await mirror.pull()
        #expect(mirror.cursor != before, "and it goes on later")
    }

    @Test("may repeat what they passed lately, where a clock is set back")
    func passedLately() async throws {
        let server = StampServer()
        var mirror = try Mirror(server)
        server.with { state in
            state.write("old")
            state.pass(milliseconds: 4 * 3_600_000)
            state.write("purged")
            state.pass(milliseconds: 60_000)
            state.write("newest")
            state.pass(milliseconds: 20_000)
        }
        try await mirror.pull()
        let cursor = try #require(mirror.cursor)
        var remembered: Set<String> = []
        for (id, row) in server.with({ $0.rows }) {
            let record = Record(
                id: .string(id),
                ["updatedAt": .date(Timestamp(milliseconds: row.stamp / 10_000)), "version": "1"]
            )
            if mirror.remote.mayRepeat(record, of: Mirror.table, after: cursor) { remembered.insert(id) }
        }
        // The clock goes back, and with it the cursor; a purged row comes again, and is passed over.
        server.with { $0.now -= 70_000 * 10_000 }
        try await mirror.pull()
        mirror.versions = [:]
        try await mirror.pull()
        #expect(mirror.versions["purged"] != nil)
        #expect(remembered.isSuperset(of: mirror.versions.keys))
        #expect(!remembered.contains("old"))
        // Of what has no stamp, or of a cursor that is none, nothing is known.
        #expect(mirror.remote.mayRepeat(Record(id: "a"), of: Mirror.table, after: cursor))
        #expect(mirror.remote.mayRepeat(Record(id: "a"), of: Mirror.table, after: "no cursor"))
    }
}
