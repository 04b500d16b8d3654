import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import Testing

@Suite("Rows set aside that are asked for on request")
struct SetAsideRetryTests {
    /// A server of which each table has one row that does not fit at first.
    private func remote(
        _ answersAgain: Switch,
        _ answer: @escaping @Sendable (ScriptedRemote.Request) throws -> PullPage
    ) -> ScriptedRemote {
        ScriptedRemote { request, _ in
            if answersAgain.isOn { return try answer(request) }
            return PullPage(records: [], setAside: [SetAsideRow(id: "x", reason: "on purpose")], cursor: "c")
        }
    }

    @Test("come also where a table before theirs is none of the server's, whose error says what came")
    func oneTableFails() async throws {
        let isAskedAgain = Switch()
        let remote = remote(isAskedAgain) { request in
            guard request.table == "B" else { throw RemoteError(.notFound, "on purpose", status: 404) }
            return PullPage(records: [serverRow("x")])
        }
        let schema = try StoreSchema(["A", "B"].map { TableDefinition($0, columns: [.init("text", .string)]) })
        let context = SyncContext(store: MemoryStore(schema), remote: remote)
        try await context.pull(Query("A"), Query("B"))
        isAskedAgain.isOn = true
        let error = await #expect(throws: SyncError.self) { try await context.retrySetAsideRows() }
        #expect(error?.code == .pullAborted && error?.pull?.received == 1)
        #expect(error?.pull?.isComplete == false)
        #expect(try await context.setAsideRows().map(\.table) == ["A"])
    }

    @Test(
        "stay when the store is locked or closed meanwhile, which is told as by a pull",
        arguments: [
            StoreError.Code.locked, .closed,
        ]
    )
    func unavailableStore(_ code: StoreError.Code) async throws {
        let (isAskedAgain, isUnavailable) = (Switch(), Switch())
        let remote = remote(isAskedAgain) { _ in
            isUnavailable.isOn = true
            return PullPage(records: [serverRow("x")])
        }
        let store = FaultyStore(try makeStore()) { _ in
            isUnavailable.isOn ? .fails(.beforeClosure, StoreError(code, "on purpose")) : nil
        }
        let context = SyncContext(store: store, remote: remote)
        try await context.pull(Query("TodoItem"))
        isAskedAgain.isOn = true
        let error = await #expect(throws: SyncError.self) { try await context.retrySetAsideRows() }
        #expect(error?.code == .storeUnavailable && (error?.cause as? StoreError)?.code == code)
        #expect(error?.pull?.received == 0)
        isUnavailable.isOn = false
        #expect(try await context.setAsideRows().map(\.itemID) == ["x"])
    }

    @Test("are none of those that a pull names when a later page of it brings them", arguments: [false, true])
    func broughtLater(isDeleted: Bool) async throws {
        let remote = ScriptedRemote { request, _ in
            guard request.position == .next("1") else {
                return PullPage(
                    records: [serverRow("a")],
                    setAside: ["x", "y"].map { SetAsideRow(id: $0, reason: "on purpose") },
                    next: .next("1")
                )
            }
            let tombstone = Record(id: "x", ["version": "2", "deleted": true])
            return PullPage(records: [isDeleted ? tombstone : serverRow("x")])
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        let report = try await context.pull(Query("TodoItem"))
        #expect(report.setAside.map(\.id) == ["y"])
        #expect(try await context.setAsideRows().map(\.itemID) == ["y"])
    }
}
