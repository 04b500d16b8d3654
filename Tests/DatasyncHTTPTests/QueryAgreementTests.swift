import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import QueryEvaluation
import QueryGenerator
import RemoteContract
import SeededNumbers
import SyncContract
import Testing

@Suite("A query sent to a server and the evaluator in memory agree", .timeLimit(.minutes(5)))
struct QueryAgreementTests {
    private static let table = TableDefinition(
        "things",
        columns: [
            .init("text", .string), .init("name", .string), .init("whole", .int64), .init("count", .int64),
            .init("number", .double), .init("price", .decimal), .init("tax", .decimal), .init("due", .date),
            .init("flag", .bool),
        ],
        systemProperties: []
    )

    private static let columns: EmulatedTableDefinition.Columns = [
        "text": .text.optional, "name": .text.optional, "whole": .integer.optional, "count": .integer.optional,
        "number": .number.optional, "price": .decimal.optional, "tax": .decimal.optional, "due": .date.optional,
        "flag": .boolean.optional,
    ]

    @Test("on random queries over random rows, in both protocols", arguments: DatasyncDialect.allCases)
    func randomQueries(dialect: DatasyncDialect) async throws {
        let seed = SeededGenerator.seed()
        let isDatasync = dialect == .datasync
        var random = RandomQueries(Self.table, .wire(wholeNumbers: isDatasync), seed: seed)
        var configuration = EmulatorConfiguration(
            dialect: isDatasync ? .datasync : .azureMobileApps,
            tables: [.init("things", columns: Self.columns)]
        )
        // Genuine servers refuse what no type makes sense of; here its meaning is compared as well.
        configuration.refusesMistypedQueries = false
        let emulator = Emulator(configuration)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: dialect,
            transport: EmulatorTransport(emulator)
        )
        try await compare(remote, seed: seed, &random)
    }

    /// Whether a query is larger than servers take. The adapter says so of most; where a server converts operands because
    /// a column takes no nulls, only the server can count.
    private static func saysTooLarge(_ error: RemoteError) -> Bool {
        error.code == .invalidRequest || error.status == 400 && error.message.contains("node count limit")
    }

    @Test("on a search in something that is no text, and its negation", arguments: DatasyncDialect.allCases)
    func searchInNoText(dialect: DatasyncDialect) async throws {
        var configuration = EmulatorConfiguration(
            dialect: dialect == .datasync ? .datasync : .azureMobileApps,
            tables: [.init("things", columns: Self.columns)]
        )
        configuration.refusesMistypedQueries = false
        let emulator = Emulator(configuration)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: dialect,
            transport: EmulatorTransport(emulator)
        )
        let row = Record(id: "a", ["text": "x", "flag": true])
        _ = try await remote.insert(row, into: Self.table)
        let search = QueryPredicate.match(.column("text"), .contains, .column("flag"))
        for predicate in [search, .not(search)] {
            let query = Query("things").filtered(by: predicate)
            let expected = try QueryEvaluator(Self.table).evaluate(query, over: [row])
            #expect(try await remote.page(query, of: Self.table).records.count == expected.count)
        }
    }

    private func compare(_ remote: DatasyncRemote, seed: UInt64, _ random: inout RandomQueries) async throws {
        var rows: [Record] = []
        for number in 0..<40 {
            let row = random.record(.string((number % 2 == 0 ? "id-" : "ID-") + String(number / 2)))
            _ = try await remote.insert(row, into: Self.table)
            rows.append(row)
        }
        random.rows = rows
        let evaluator = QueryEvaluator(Self.table)
        var (found, refused) = (0, 0)
        let rounds = SeededGenerator.rounds(300, all: 1_000)
        for index in 0..<rounds {
            let query = random.query(depth: 3)
            let expected = try evaluator.evaluate(query, over: rows)
            var all = Query(query.table)
            all.predicate = query.predicate
            let total = try evaluator.evaluate(all, over: rows).count
            let page: RemotePage
            do {
                page = try await remote.page(query.countingAll(), of: Self.table)
            } catch let error as RemoteError where Self.saysTooLarge(error) {
                refused += 1
                continue
            }
            found += page.records.count
            guard page.records.map(\.id) == expected.map(\.id), page.totalCount == total else {
                Issue.record(
                    """
                    seed \(seed), query \(index): \(query)
                    expected \(expected.map(\.id)) of \(total), got \(page.records.map(\.id)) of \(page.totalCount ?? -1)
                    """
                )
                return
            }
        }
        #expect(refused < rounds / 5, "seed \(seed): \(refused) of \(rounds) queries are larger than servers take")
        #expect(found > rounds, "seed \(seed): the queries found next to nothing, so they compared nothing")
    }
}
