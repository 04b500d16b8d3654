import Foundation
import HTTPTransport
import RemoteContract
import SyncContract
import Synchronization
import Testing

@testable import DatasyncHTTP

@Suite("What the answer to a write teaches of the server's stamps")
struct LearnedLagTests {
    private static let table = TableDefinition("todo", columns: [.init("text", .string)])
    private static let other = TableDefinition("other", columns: [])

    /// Gives one answer to everything, with a row that was stamped two hours before.
    private struct Server: ClientTransport {
        var status: Int
        var version: String

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            let row = #"{"id":"a","text":"x","version":"\#(version)","updatedAt":"1994-11-06T06:49:37.000Z"}"#
            return HTTPResponse(
                status: .init(code: status),
                headerFields: [.date: "Sun, 06 Nov 1994 08:49:37 GMT", .contentType: "application/json"],
                body: Array(row.utf8)
            )
        }
    }

    private func lag(
        _ status: Int,
        _ version: String,
        _ write: (DatasyncRemote) async throws -> Void
    ) async throws -> Bool {
        let remote = try DatasyncRemote(
            baseURL: URL(string: "https://example.org")!,
            dialect: .datasync,
            transport: Server(status: status, version: version)
        )
        try await write(remote)
        let lags = remote.knowledge.withLock { knowledge in
            [Self.table, Self.other].map { knowledge.lag(of: $0, earlier: 0) }
        }
        #expect(lags[0] == lags[1], "a table that is only read has the same database")
        return lags[0] > 7_000_000
    }

    private let row = Record(id: "a", ["text": "x"])

    @Test("an update counts where it has made another version", arguments: ["V1", "V2"])
    func update(_ version: String) async throws {
        let hasLearned = try await lag(200, version) { remote in
            _ = try await remote.update(row, in: Self.table, version: "V1", restoring: false)
        }
        #expect(hasLearned == (version == "V2"))
    }

    private static let response = ServerResponse(
        status: 200,
        fields: [.date: "Sun, 06 Nov 1994 08:49:37 GMT"],
        body: [],
        server: "example.org"
    )

    @Test("what an earlier pull of a table reckoned with counts until a write to that table shows less")
    func becomesLess() {
        var knowledge = ServerKnowledge()
        let response = Self.response
        knowledge.learn(stamp: 784_111_777_000 - 500, of: Self.other, from: response)
        #expect(knowledge.lag(of: Self.table, earlier: 60_000) == 60_000, "it may lie in another database")
        #expect(knowledge.lag(of: Self.other, earlier: 60_000) == 500)
        knowledge.learn(stamp: 784_111_777_000, of: Self.table, from: response)
        #expect(knowledge.lag(of: Self.table, earlier: 60_000) == 500)
    }

    @Test("an update of whatever is there may have changed nothing")
    func unconditional() async throws {
        let hasLearned = try await lag(200, "V2") { remote in
            _ = try await remote.update(row, in: Self.table, version: nil, restoring: false)
        }
        #expect(!hasLearned)
    }

    @Test("an insert counts where it has made the row", arguments: [200, 201])
    func insert(_ status: Int) async throws {
        for assignsIDs in [false, true] {
            let table = TableDefinition("todo", columns: [.init("text", .string)], assignsIDs: assignsIDs)
            let hasLearned = try await lag(status, "V1") { remote in
                _ = try await remote.insert(row, into: table)
            }
            #expect(hasLearned == (status == 201))
        }
    }

    @Test("a write that took long shows nothing of how late stamps are")
    func slowWrite() {
        var knowledge = ServerKnowledge()
        var response = Self.response
        response.duration = .seconds(90)
        knowledge.learn(stamp: 784_111_777_000 - 60_000, of: Self.table, from: response)
        #expect(knowledge.lag(of: Self.table, earlier: 60_000) == 60_000)
    }
}
