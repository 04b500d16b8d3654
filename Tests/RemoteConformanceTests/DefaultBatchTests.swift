import RemoteContract
import SyncContract
import Synchronization
import Testing

@Suite("What a remote has that says nothing about ids and batches")
struct DefaultBatchTests {
    private static let table = TableDefinition("items", columns: [.init("text", .string)])

    /// A remote that takes inserts, but for those whose id names an error.
    private struct Single: SyncRemote {
        let sent = Counter()
        let replacesWholeRows = true

        final class Counter: Sendable {
            let ids = Mutex<[String]>([])
        }

        func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
            let id = record.id.stringValue ?? ""
            sent.ids.withLock { $0.append(id) }
            switch id {
            case "conflict": throw RemoteError(.conflict, "The id is taken.")
            case "unreachable": throw RemoteError(.unreachable, "The connection broke.")
            case "throttled": throw RemoteError(.throttled, "Come back later.")
            case "unauthorized": throw RemoteError(.unauthorized, "Sign in.")
            case "cancelled": throw CancellationError()
            default: return record
            }
        }
        func update(_ record: Record, in table: TableDefinition, version: String?, restoring: Bool) async throws
            -> Record
        {
            record
        }
        func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
            .confirmed
        }
        func record(_ id: String, in table: TableDefinition) async throws -> Record? { nil }
        func confirm(_ table: TableDefinition) async throws {}
        func page(
            _ query: Query,
            of table: TableDefinition,
            at position: PullPosition,
            pageSize: Int?
        ) async throws -> PullPage { PullPage(records: []) }
    }

    private func outcomes(_ ids: [String]) async throws -> (sent: [String], failures: [String?]) {
        let remote = Single()
        let answers = try await remote.send(ids.map { .insert(Record(id: .string($0)), into: Self.table) })
        let failures = answers.map { answer -> String? in
            guard case .failure(let error) = answer else { return nil }
            return (error as? RemoteError)?.code.description ?? "\(error)"
        }
        return (remote.sent.ids.withLock { $0 }, failures)
    }

    @Test("sends a batch one by one, and goes on behind what one row is refused for")
    func independent() async throws {
        let (sent, failures) = try await outcomes(["a", "conflict", "b"])
        #expect(sent == ["a", "conflict", "b"])
        #expect(failures == [nil, "conflict", nil])
    }

    @Test(
        "sends nothing behind what is about the server, and says the same of the rest",
        arguments: ["unreachable", "throttled", "unauthorized"]
    )
    func stopped(_ code: String) async throws {
        let (sent, failures) = try await outcomes(["a", code, "b", "c"])
        #expect(sent == ["a", code])
        #expect(failures == [nil, code, code, code])
    }

    @Test("sends nothing behind its cancellation")
    func cancelled() async throws {
        let (sent, failures) = try await outcomes(["a", "cancelled", "b"])
        #expect(sent == ["a", "cancelled"])
        #expect(failures == [nil, "CancellationError()", "CancellationError()"])
    }

    @Test("updates and deletes by the single calls, and answers what they answer")
    func kinds() async throws {
        let row = Record(id: "a", ["text": "x"])
        let answers = try await Single()
            .send([
                .update(row, in: Self.table, version: nil, restoring: false),
                .delete("a", from: Self.table, version: nil),
            ])
        #expect(try answers[0].get() == .row(row))
        #expect(try answers[1].get() == .deletion(.confirmed))
    }

    @Test("takes the ids that every server of the original SDKs takes")
    func ids() {
        let rule = Single().idRule
        #expect(Single().maximumBatchSize == 1)
        for id in ["a", "5C1B5A8E-53B2-4E2D-9E0B-0C8A3A7F2D10", "a b", String(repeating: "x", count: 255)] {
            #expect(rule.problem(of: id) == nil, "\(id)")
        }
        for id in ["", " ", ".", "..", "a/b", "a+b", "a?b", "a\"b", "a\\b", "a`b", "a\u{7}", "é", "\u{85}"] {
            #expect(rule.problem(of: id) != nil, "\(id)")
        }
        #expect(rule.problem(of: String(repeating: "x", count: 256)) == "it is longer than 255 characters")
        let lax = RowIDRule(maximumLength: 4, allowsNonASCII: true)
        #expect(lax.problem(of: "é+?") == nil)
        for id in ["a/b", "..", "", "\u{0}", "fünf!"] { #expect(lax.problem(of: id) != nil, "\(id)") }
    }
}
