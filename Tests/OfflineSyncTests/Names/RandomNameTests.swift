import QueryEvaluation
import QueryGenerator
import RemoteContract
import SeededNumbers
import SyncContract
import Testing

@testable import OfflineSync

@Suite("Names of any kind")
struct RandomNameTests {
    private static let pool = ["a", "b", "c", "d", "e", "f"]

    /// A table some of whose columns have each other's names on the wire, or names that are not declared, or stay here.
    private static func table(_ random: inout SeededGenerator) -> TableDefinition {
        let names = pool.shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random))
        var wireNames = (pool + ["g", "h"]).shuffled(using: &random)
        while true {
            let columns = zip(names, wireNames)
                .map { name, wireName in
                    let isLocal = Int.random(in: 0..<4, using: &random) == 0
                    let isSame = Bool.random(using: &random)
                    let type = ColumnType.allCases.filter { ![.bytes, .json].contains($0) }
                        .randomElement(using: &random)!
                    return ColumnDefinition(name, type, isLocal: isLocal, wireName: isLocal || isSame ? nil : wireName)
                }
            let table = TableDefinition("Note", columns: columns, wireName: "notes")
            let schema: StoreSchema = [table]
            if case .success = Result(catching: { try schema.check() }) { return table }
            wireNames.shuffle(using: &random)
        }
    }

    @Test("a row of the server comes and goes back as it was, and every column has its own value")
    func rows() throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let table = Self.table(&random)
            let names = WireNames(table)
            var row = Record(id: "1")
            for name in Self.pool + ["g", "h", "a@server", "b@server@server", "version", "deleted"] {
                guard Bool.random(using: &random) else { continue }
                row[name] = .string(name + "!")
            }
            let here = names.incoming(row)
            #expect(Set(here.names).count == Array(row.names).count, "seed \(seed)")
            for column in table.columns {
                #expect(here[column.name] == (column.isLocal ? nil : row[column.wireName]), "seed \(seed)")
            }
            #expect(names.outgoing(here) == row, "seed \(seed)")
            var mine = here
            for column in table.columns where column.isLocal { mine[column.name] = "mine" }
            #expect(names.outgoing(mine) == row, "what stays here is not sent, seed \(seed)")
        }
    }

    @Test("a condition and an order mean there what they mean here")
    func queries() throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        for round in 0..<300 {
            let declared = Self.table(&random)
            let table = TableDefinition("Note", columns: declared.columns.filter { !$0.isLocal }, wireName: "notes")
            let names = WireNames(table)
            var queries = RandomQueries(table, .wire(wholeNumbers: true), seed: seed &+ UInt64(round))
            let rows = (0..<12).map { queries.record(.string("\($0)")) }
            let (here, there) = (QueryEvaluator(table), QueryEvaluator(names.table))
            for _ in 0..<10 {
                let query = queries.query()
                let asked = names.outgoing(query)
                #expect(asked.table == "notes" && asked.limit == query.limit && asked.offset == query.offset)
                #expect(asked.selection == query.selection.map { $0.map(names.wireName) })
                for row in rows {
                    let sent = names.outgoing(row)
                    #expect(
                        try there.matches(sent, asked.predicate) == here.matches(row, query.predicate),
                        "seed \(seed)"
                    )
                    let other = rows.randomElement(using: &random)!
                    #expect(
                        there.precedes(sent, names.outgoing(other), in: asked.order)
                            == here.precedes(row, other, in: query.order),
                        "seed \(seed)"
                    )
                }
            }
        }
    }

    @Test("messages name what is known here, and what the server calls it")
    func messages() {
        let table = TableDefinition(
            "Invoice",
            columns: [
                .init("amount", .decimal, wireName: "total"), .init("total", .decimal, wireName: "bills"),
                .init("note", .string),
            ],
            wireName: "bills"
        )
        let names = WireNames(table)
        let told = [
            "column 'total' of table 'bills'; 'note' fits": "column 'amount' ('total' on the server) of table 'Invoice'"
                + " ('bills' on the server); 'note' fits",
            "'bills' is no number": "'total' ('bills' on the server) is no number", "don't": "don't", "": "",
        ]
        for (message, expected) in told { #expect(names.incoming(message: message) == expected) }
    }

    @Test("a remote is what it is, whatever it is called by")
    func forwarding() async throws {
        let remote = WireNamedRemote(base: OddRemote())
        let table = TableDefinition("Note", columns: [.init("a", .string, wireName: "b")], wireName: "notes")
        #expect(!remote.replacesWholeRows && remote.restoresInSteps && remote.maximumBatchSize == 7)
        #expect(remote.idRule.maximumLength == 3)
        #expect(!remote.mayRepeat(Record(id: "1"), of: table, after: "cursor"))
        let position = PullPosition.next("there")
        let page = try await remote.page(Query("Note"), of: table, at: position, pageSize: 5, parameters: ["x": "y"])
        let expected = PullPage(
            records: [Record(id: "1", ["a": "notes 5 y"])],
            setAside: [SetAsideRow(id: "2", reason: "'a' ('b' on the server)")],
            next: position,
            cursor: "cursor",
            totalCount: 9,
            orderKeys: [1]
        )
        #expect(page == expected)
        let answers = try await remote.send([
            .insert(Record(id: "1", ["a": "x"]), into: table), .delete("2", from: table, version: "v"),
        ])
        #expect(try answers[0].get() == .row(Record(id: "1", ["a": "x"])))
        let error = #expect(throws: RemoteError.self) { try answers[1].get() }
        #expect(error?.serverRecord == Record(id: "2", ["a": "theirs"]) && error?.status == 412)
        #expect(error?.retryAfter == .seconds(1) && error?.message == "table 'Note' ('notes' on the server)")
        #expect(remote.base as Any is OddRemote && !(remote as Any is any OnlineRemote))
    }
}

/// A remote in which nothing is as it usually is.
private struct OddRemote: SyncRemote {
    let replacesWholeRows = false
    let restoresInSteps = true
    let maximumBatchSize = 7
    let idRule = RowIDRule(maximumLength: 3)

    func send(_ batch: [RemoteOperation]) async throws -> [Result<RemoteOperationAnswer, any Error>] {
        batch.map { operation in
            switch operation {
            case .insert(let row, into: let table) where table.name == "notes" && row.names.contains("b"):
                .success(.row(row))
            default:
                .failure(
                    RemoteError(
                        .conflict,
                        "table 'notes'",
                        status: 412,
                        serverRecord: Record(id: "2", ["b": "theirs"]),
                        retryAfter: .seconds(1)
                    )
                )
            }
        }
    }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?,
        parameters: [String: String]
    ) async throws -> PullPage {
        let text = "\(query.table) \(pageSize ?? 0) \(parameters["x"] ?? "")"
        return PullPage(
            records: [Record(id: "1", ["b": .string(text)])],
            setAside: [SetAsideRow(id: "2", reason: "'b'")],
            next: position,
            cursor: "cursor",
            totalCount: 9,
            orderKeys: [1]
        )
    }

    func mayRepeat(_ row: Record, of table: TableDefinition, after cursor: String) -> Bool { false }

    private static let unused = RemoteError(.unreachable, "not part of this test")
    func insert(_ record: Record, into table: TableDefinition) async throws -> Record { throw Self.unused }
    func update(_ record: Record, in table: TableDefinition, version: String?, restoring: Bool) async throws -> Record {
        throw Self.unused
    }
    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        throw Self.unused
    }
    func record(_ id: String, in table: TableDefinition) async throws -> Record? { throw Self.unused }
    func confirm(_ table: TableDefinition) async throws { throw Self.unused }
    func page(_ query: Query, of table: TableDefinition, at position: PullPosition, pageSize: Int?) async throws
        -> PullPage
    { throw Self.unused }
}
