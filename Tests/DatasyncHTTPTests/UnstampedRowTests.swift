import SyncContract
import Testing

@testable import DatasyncHTTP

@Suite("Pulls of a table with rows without a stamp, which the server puts last")
struct UnstampedRowTests {
    @Test("bring them, and are idle afterwards", arguments: [1, 4, 7, 100], [true, false])
    func unstampedLast(_ pageSize: Int, _ tellsTime: Bool) async throws {
        var settings = StampServer.Settings()
        settings.tellsTime = tellsTime
        let server = StampServer(settings)
        var mirror = try Mirror(server, pageSize: pageSize)
        server.with { state in
            for index in 0..<10 { state.write("r\(index)", stamp: state.now + Int64(index / 2) * 10_000) }
            state.unstamped = ["r2", "r5", "r9"]
            state.pass(milliseconds: 60_000)
            state.write("newest")
            state.pass(milliseconds: 60_000)
        }
        // The first pull is cut off after its first page.
        try await mirror.pull(pages: 1)
        try await mirror.pull()
        #expect(mirror.versions == server.versions)
        // Without a date, what the newest row was stamped within the settling time of comes again.
        #expect(try await mirror.pull() == (tellsTime ? 0 : 1))
    }
}
