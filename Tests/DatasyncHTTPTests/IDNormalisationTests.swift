import DatasyncEmulator
import RemoteContract
import SyncContract
import Testing

@testable import DatasyncHTTP

@Suite("Ids that differ in normalisation only, which servers keep apart and Swift's texts do not")
struct IDNormalisationTests {
    /// A letter with its accent, and a letter and an accent.
    private static let ids = ["\u{E9}", "e\u{301}"]

    @Test("come on two pages that follow each other", arguments: [EmulatedService.datasync, .node], [true, false])
    func pages(_ service: EmulatedService, _ isOfChanges: Bool) async throws {
        let emulator = service.emulator()
        let stamp: JSONValue = "2026-01-02T03:04:05.000Z"
        try emulator.seed(Self.ids.map { ["id": .string($0), "updatedAt": stamp] }, in: "todo")
        let remote = try service.remote(emulator)
        var ids: Set<RecordID> = []
        var position: PullPosition? = isOfChanges ? .changes(since: nil) : .everything
        while let current = position {
            let page = try await remote.page(Query("todo"), of: EmulatedService.table, at: current, pageSize: 1)
            ids.formUnion(page.records.map(\.id))
            position = page.next
        }
        #expect(ids == Set(Self.ids.map { RecordID.string($0) }))
    }

    @Test("are no circle, and one of them after itself is")
    func circle() throws {
        var paging = IDPaging()
        for id in Self.ids { try paging.advance(behind: .text(id)) }
        let error = #expect(throws: RemoteError.self) { try paging.advance(behind: .text(Self.ids[1])) }
        #expect(error?.code == .invalidResponse)
    }

    @Test("are a circle however long it is", arguments: [2, 3, 5, 17, 100])
    func longCircle(_ length: Int) {
        var paging = IDPaging()
        let error = #expect(throws: RemoteError.self) {
            for number in 0..<10_000 { try paging.advance(behind: .text("r\(number % length)")) }
        }
        #expect(error?.code == .invalidResponse)
    }
}
