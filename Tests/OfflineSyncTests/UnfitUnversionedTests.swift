import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import Synchronization
import Testing

/// A server that has, or has not, versions. A row of it that does not fit the table here names none.
private final class MisfitServer: SyncRemote {
    private struct State {
        var rows: [String: Record] = [:]
        var unfit: Set<String> = []
        var version = 0
        var isUnavailable = false
    }

    private let state = Mutex(State())
    private let hasVersions: Bool
    /// Whether it lets rows be changed by requests that name no version.
    private let isLenient: Bool

    init(hasVersions: Bool, isLenient: Bool = true) {
        self.hasVersions = hasVersions
        self.isLenient = isLenient
    }

    private static let misfit = "in column 'due': it is no date"

    var texts: [String: String] {
        state.withLock { $0.rows.mapValues { $0["text"]?.stringValue ?? "" } }
    }

    /// Whether it takes no changes for now.
    var isUnavailable: Bool {
        get { state.withLock { $0.isUnavailable } }
        set { state.withLock { $0.isUnavailable = newValue } }
    }

    /// Somebody else writes a row that does not fit the table here.
    func writeMisfit(_ id: String) {
        state.withLock { state in
            state.version += 1
            state.rows[id] = Record(id: .string(id), ["text": "theirs", "version": .string("\(state.version)")])
            state.unfit.insert(id)
        }
    }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try write(record, isUnchanged: { $0 == nil })
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        try write(record) { [isLenient] in version == nil ? isLenient : $0?.version == version }
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        _ = try write(Record(id: .string(id))) { [isLenient] in version == nil ? isLenient : $0?.version == version }
        state.withLock { $0.rows[id] = nil }
        return .confirmed
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        try state.withLock { state in
            guard !state.unfit.contains(id) else {
                throw RemoteError(.unfitRow, Self.misfit, status: 200, serverRecord: Record(id: .string(id)))
            }
            return state.rows[id].map(shown)
        }
    }

    func confirm(_ table: TableDefinition) async throws {}

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        state.withLock { state in
            let fit = state.rows.filter { !state.unfit.contains($0.key) }
            return PullPage(
                records: fit.values.map(shown),
                setAside: state.unfit.map { SetAsideRow(id: $0, reason: Self.misfit) }
            )
        }
    }

    private func write(_ record: Record, isUnchanged: (Record?) -> Bool) throws -> Record {
        let id = record.id.stringValue ?? ""
        return try state.withLock { state in
            if state.isUnavailable { throw RemoteError(.throttled, "later", status: 503) }
            guard isUnchanged(state.rows[id]) else {
                let isUnfit = state.unfit.contains(id)
                throw RemoteError(
                    .conflict,
                    "another version",
                    status: 412,
                    serverRecord: isUnfit ? nil : state.rows[id].map(shown),
                    cause: isUnfit ? RemoteError(.unfitRow, Self.misfit, serverRecord: Record(id: .string(id))) : nil
                )
            }
            state.version += 1
            var row = record
            row["version"] = .string("\(state.version)")
            state.rows[id] = row
            state.unfit.remove(id)
            return shown(row)
        }
    }

    private func shown(_ row: Record) -> Record {
        var row = row
        if !hasVersions { row["version"] = nil }
        return row
    }
}

@Suite("Changes of rows that do not fit their table on the server, and name no version")
struct UnfitUnversionedTests {
    enum Change: CaseIterable {
        case insert, update, delete
    }

    /// A conflict with such a row, which says why.
    private func conflict(
        _ change: Change,
        _ server: MisfitServer
    ) async throws -> (SyncContext, SyncTable<Record>, TableOperationError<Record>) {
        let context = SyncContext(store: try makeStore(), remote: server)
        let table = try context.table("TodoItem")
        if change == .insert {
            server.writeMisfit("a")
            try await table.insert(["text": "mine"], id: "a")
        } else {
            try await table.insert(["text": "milk"], id: "a")
            #expect(try await context.push().pushed == 1)
            server.writeMisfit("a")
            if change == .delete { try await table.delete("a") } else { try await edit(table) }
        }
        for _ in 1...2 { #expect(try await context.push().conflicts.count == 1) }
        let error = try #require(try await context.operationErrors().first)
        #expect(error.isConflict && error.serverItem == nil && !error.isDeletedOnServer)
        #expect(error.message.contains("it is no date"), "the user sees why")
        return (context, table, error)
    }

    private func edit(_ table: SyncTable<Record>) async throws {
        try await table.update(Record(id: "a", ["text": "mine"]))
    }

    private func expectEnd(_ texts: [String: String], _ server: MisfitServer, _ context: SyncContext) async throws {
        let report = try await context.push()
        #expect(report.notTaken.isEmpty && report.overtaken == 0)
        #expect(server.texts == texts)
        #expect(try await context.operations().isEmpty)
        #expect(try await context.operationErrors().isEmpty)
        #expect(try await (context.store as? MemoryStore)?.verifyQueue().isEmpty == true)
    }

    @Test("go over them when that is decided", arguments: Change.allCases, [true, false])
    func keepMine(_ change: Change, _ hasVersions: Bool) async throws {
        let server = MisfitServer(hasVersions: hasVersions)
        let (context, table, error) = try await conflict(change, server)
        try await context.resolve(error, with: .keepMine)
        try await expectEnd(change == .delete ? [:] : ["a": "mine"], server, context)
        #expect(try await table.read("a")?["text"] == (change == .delete ? nil : "mine"))
    }

    @Test("go over them as was decided also when the server takes no changes at first", arguments: Change.allCases)
    func keepMineLater(_ change: Change) async throws {
        let server = MisfitServer(hasVersions: true)
        let (context, _, error) = try await conflict(change, server)
        try await context.resolve(error, with: .keepMine)
        server.isUnavailable = true
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
        server.isUnavailable = false
        try await expectEnd(change == .delete ? [:] : ["a": "mine"], server, context)
    }

    @Test("go over them with other content", arguments: Change.allCases, [true, false])
    func keepMerged(_ change: Change, _ hasVersions: Bool) async throws {
        let server = MisfitServer(hasVersions: hasVersions)
        let (context, table, error) = try await conflict(change, server)
        try await context.resolve(error, with: .keepMerged(Record(id: "a", ["text": "merged"])))
        try await expectEnd(["a": "merged"], server, context)
        #expect(try await table.read("a")?["text"] == "merged")
    }

    @Test("delete them instead", arguments: Change.allCases, [true, false])
    func deleteInstead(_ change: Change, _ hasVersions: Bool) async throws {
        let server = MisfitServer(hasVersions: hasVersions)
        let (context, table, error) = try await conflict(change, server)
        try await context.resolve(error, with: .deleteInstead)
        try await expectEnd([:], server, context)
        #expect(try await table.read("a") == nil)
    }

    @Test("go over them where the client wins", arguments: Change.allCases, [true, false])
    func clientWins(_ change: Change, _ hasVersions: Bool) async throws {
        let server = MisfitServer(hasVersions: hasVersions)
        let (context, table, error) = try await conflict(change, server)
        context.conflictPolicy = .clientWins
        try await context.resolve(error, with: .keepLocal())
        if change == .delete {
            // Nothing is here any more; what is inserted meets the server's row.
            try await table.insert(["text": "mine"], id: "a")
        } else {
            try await edit(table)
        }
        try await expectEnd(["a": "mine"], server, context)
    }

    @Test(
        "are given up for them, and they are set aside",
        arguments: Change.allCases,
        [true, false]
    )
    func givenUp(_ change: Change, _ hasVersions: Bool) async throws {
        for resolution in [ConflictResolution<Record>.takeServer, .discard, .keepLocal()] {
            let server = MisfitServer(hasVersions: hasVersions)
            let (context, table, error) = try await conflict(change, server)
            try await context.resolve(error, with: resolution)
            try await expectEnd(["a": "theirs"], server, context)
            try await table.pull()
            #expect(try await context.setAsideRows().map(\.id) == ["a"])
            #expect(try await context.setAsideRows().first?.reason.contains("it is no date") == true)
            // A later change meets the row once more, and is not lost.
            if try await table.read("a") == nil {
                try await table.insert(["text": "mine"], id: "a")
            } else {
                try await edit(table)
            }
            let again = try #require(try await context.push().conflicts.first)
            try await context.resolve(again, with: .keepMine)
            try await expectEnd(["a": "mine"], server, context)
        }
    }

    @Test("stay conflicts, to be given up, where no request may go without a version", arguments: Change.allCases)
    func strict(_ change: Change) async throws {
        let server = MisfitServer(hasVersions: true, isLenient: false)
        var (context, table, error) = try await conflict(change, server)
        for _ in 1...2 {
            try await context.resolve(error, with: .keepMine)
            let report = try await context.push()
            #expect(report.overtaken == 0)
            error = try #require(report.conflicts.first)
            #expect(error.message.contains("it is no date"))
        }
        try await context.resolve(error, with: .takeServer)
        try await expectEnd(["a": "theirs"], server, context)
        try await table.pull()
        #expect(try await context.setAsideRows().map(\.id) == ["a"])
    }
}
