import DatasyncEmulator
import DatasyncHTTP
import RemoteContract
import SyncContract
import Testing

@Suite("Ids that differ in case only")
struct IDCaseTests {
    private static let folding = TableDefinition(
        "todo",
        columns: [.init("text", .string)],
        idComparison: .asciiCaseInsensitive
    )
    private static let exact = TableDefinition("todo", columns: [.init("text", .string)])

    @Test("rows that the server keeps apart are set aside with each other's id and the remedy")
    func page() async throws {
        let emulator = EmulatedService.node.emulator()
        try emulator.seed(["k1", "K1", "b", "Z"].map { ["id": .string($0), "text": .string($0)] }, in: "todo")
        let remote = try EmulatedService.node.remote(emulator)
        for position in [PullPosition.everything, .changes(since: nil)] {
            let page = try await remote.page(Query("todo"), of: Self.folding, at: position, pageSize: nil)
            #expect(Set(page.records.map(\.id)) == ["b", "Z"])
            #expect(page.setAside.map(\.id) == ["K1", "k1"])
            #expect(page.setAside.first?.reason.contains("'k1'") == true)
            #expect(page.setAside.allSatisfy { $0.reason.contains("idComparison: .exact") })
            let all = try await remote.page(Query("todo"), of: Self.exact, at: position, pageSize: nil)
            #expect(all.records.count == 4 && all.setAside.isEmpty)
        }
    }

    @Test("a row that comes twice in one spelling is one row")
    func twice() {
        let rows = [Record(id: "k1"), Record(id: "a"), Record(id: "k1", ["deleted": true])]
        let told = IDCaseCollisions.separate(rows, of: Self.folding)
        #expect(told.records == rows && told.setAside.isEmpty)
    }

    @Test("tombstones of other spellings are no collision with the one row that there is, and are applied before it")
    func oneLives() {
        let (gone, alive, other) = (Record(id: "k1", ["deleted": true]), Record(id: "K1"), Record(id: "a"))
        for rows in [[alive, other, gone], [gone, other, alive], [Record(id: "k1"), alive, other, gone]] {
            let told = IDCaseCollisions.separate(rows, of: Self.folding)
            #expect(told.records.filter { $0.id != "a" }.suffix(2) == [gone, alive] && told.setAside.isEmpty)
            #expect(told.records.contains(other))
        }
    }

    @Test("rows that are all deleted are no collision")
    func noneLives() {
        let rows = ["k1", "a", "K1"].map { Record(id: $0, ["deleted": true]) }
        let told = IDCaseCollisions.separate(rows, of: Self.folding)
        #expect(told.records == rows && told.setAside.isEmpty)
    }

    @Test("beside two that are set aside the tombstone of a third spelling is applied")
    func twoLive() {
        let gone = Record(id: "aB", ["deleted": true])
        let told = IDCaseCollisions.separate([Record(id: "ab"), Record(id: "AB"), gone], of: Self.folding)
        #expect(told.records == [gone] && told.setAside.map(\.id) == ["AB", "ab"])
        #expect(told.setAside.allSatisfy { !$0.reason.contains("aB") })
    }

    @Test("a look-up finds the row of the very spelling")
    func lookup() async throws {
        let emulator = EmulatedService.node.emulator()
        try emulator.seed(["k1", "K1"].map { ["id": .string($0), "text": .string($0)] }, in: "todo")
        let remote = try EmulatedService.node.remote(emulator)
        for id in ["k1", "K1"] {
            #expect(try await remote.record(id, in: Self.folding)?["text"] == .string(id))
        }
    }

    @Test("a server's row is suspected beside a local one that came from the server in another spelling")
    func suspicion() {
        let local = Record(id: "k1", ["version": "V1"])
        let server = Record(id: "K1", ["version": "V2"])
        #expect(IDCaseCollisions.isSuspected(server, besides: local, in: Self.folding))
        #expect(!IDCaseCollisions.isSuspected(server, besides: local, in: Self.exact))
        #expect(!IDCaseCollisions.isSuspected(server, besides: nil, in: Self.folding))
        #expect(!IDCaseCollisions.isSuspected(server, besides: Record(id: "k1"), in: Self.folding))
        #expect(!IDCaseCollisions.isSuspected(server, besides: server, in: Self.folding))
        #expect(!IDCaseCollisions.isSuspected(server, besides: Record(id: "x", ["version": "V1"]), in: Self.folding))
    }
}
