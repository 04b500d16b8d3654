import DatasyncHTTP
import Foundation
import RemoteContract
import ScriptedServer
import SyncContract
import Testing

@Suite("Conflicts and rows that are gone, over a socket", .timeLimit(.minutes(5)))
struct ConflictTests {
    private static let table = TableDefinition("todo", columns: [.init("text", .string)])
    private static let row = Record(id: "a1", ["text": "mine"])
    private static let live = #"{"id":"a1","text":"theirs","version":"V2","deleted":false}"#
    private static let tombstone = #"{"id":"a1","text":"theirs","version":"V3","deleted":true}"#

    enum Call: CaseIterable { case insert, update, restore, delete }

    /// What becomes of a call when the write and a following look-up are answered so.
    private func outcome(
        _ dialect: DatasyncDialect,
        _ call: Call,
        write: String,
        lookup: String = response("500 Unexpected")
    ) async throws -> (error: RemoteError?, methods: [String]) {
        let server = try ScriptedServer { request in
            [.send(Array((request.method == "GET" ? lookup : write).utf8))]
        }
        let remote = try DatasyncRemote(baseURL: server.url, dialect: dialect)
        do {
            switch call {
            case .insert: _ = try await remote.insert(Self.row, into: Self.table)
            case .update, .restore:
                let restoring = call == .restore
                _ = try await remote.update(Self.row, in: Self.table, version: "V1", restoring: restoring)
            case .delete: try await remote.delete("a1", from: Self.table, version: "V1")
            }
            return (nil, server.requests.map(\.method))
        } catch let error as RemoteError {
            return (error, server.requests.map(\.method))
        }
    }

    /// A row as the dialect answers a look-up with it.
    private func found(_ dialect: DatasyncDialect, _ row: String) -> String {
        response("200 OK", dialect == .datasync ? row : "[\(row)]")
    }

    @Test(
        "the row in the answer is the conflict's, without another request",
        arguments: DatasyncDialect.allCases,
        [Call.insert, .update, .restore, .delete]
    )
    func rowInAnswer(_ dialect: DatasyncDialect, _ call: Call) async throws {
        for status in ["409 Conflict", "412 Precondition Failed"] {
            let (error, methods) = try await outcome(dialect, call, write: response(status, Self.live))
            #expect(error?.code == .conflict)
            #expect(error?.serverRecord?.version == "V2")
            #expect(error?.description.contains("theirs") == false)
            #expect(methods.count == 1)
        }
    }

    @Test(
        "without a row in the answer, it is fetched",
        arguments: DatasyncDialect.allCases,
        ["", "{}", #"{"id":"a1","text":"mine"}"#, "<html></html>"]
    )
    func fetchedRow(_ dialect: DatasyncDialect, _ body: String) async throws {
        for call in Call.allCases {
            let (error, methods) = try await outcome(
                dialect,
                call,
                write: response("412 No", body),
                lookup: found(dialect, Self.live)
            )
            #expect(error?.code == .conflict)
            #expect(error?.status == 412)
            #expect(error?.serverRecord?["text"] == "theirs")
            #expect(methods.count == 2)
        }
    }

    @Test("a row that cannot be had makes a conflict without a row", arguments: [Call.insert, .update])
    func noRow(_ call: Call) async throws {
        for lookup in ["404 Not Found", "410 Gone", "403 Forbidden"] {
            let (error, _) = try await outcome(
                .datasync,
                call,
                write: response("409 Conflict"),
                lookup: response(lookup)
            )
            #expect(error?.code == .conflict, "\(lookup)")
            #expect(error?.serverRecord == nil)
        }
        let (error, _) = try await outcome(
            .azureMobileApps,
            call,
            write: response("409 Conflict"),
            lookup: response("200 OK", "[]")
        )
        #expect(error?.code == .conflict)
        #expect(error?.serverRecord == nil)
    }

    @Test("and so does one that a deletion meets", arguments: DatasyncDialect.allCases)
    func noRowForDeletion(_ dialect: DatasyncDialect) async throws {
        for lookup in ["400 Bad Request", "403 Forbidden", "200 OK"] {
            let (error, methods) = try await outcome(
                dialect,
                .delete,
                write: response("412 No"),
                lookup: response(lookup)
            )
            #expect(error?.code == .conflict && error?.status == 412, "\(lookup)")
            #expect(error?.serverRecord == nil && error?.cause != nil)
            #expect(methods == ["DELETE", "GET"])
        }
    }

    @Test(
        "a look-up that may work later fails the call as itself",
        arguments: [("401 No", RemoteError.Code.unauthorized), ("503 Busy", .throttled), ("500 Oops", .serverFailure)]
    )
    func failedLookup(_ status: String, _ code: RemoteError.Code) async throws {
        for dialect in DatasyncDialect.allCases {
            let (error, _) = try await outcome(
                dialect,
                .insert,
                write: response("409 Conflict"),
                lookup: response(status)
            )
            #expect(error?.code == code)
            let deletion = try await outcome(dialect, .delete, write: response("412 No"), lookup: response(status))
            #expect(deletion.error?.code == code)
        }
    }

    @Test(
        "a look-up that brings no such row says nothing about it, and fails the call as itself",
        arguments: [Call.insert, .update, .restore, .delete],
        ["", "{}", #"{"id":"a1","tex"#, #"{"id":"b2","text":"another"}"#]
    )
    func unreadableLookup(_ call: Call, _ body: String) async throws {
        for write in [response("412 No", #"{"id":"a1","#), response("409 Conflict")] {
            let (error, methods) = try await outcome(.datasync, call, write: write, lookup: response("200 OK", body))
            #expect(error?.code == .invalidResponse && methods.count == 2)
        }
    }

    @Test("a row that does not fit and has the id makes a conflict with it as the cause")
    func unfitLookup() async throws {
        let unfit = #"{"id":"a1","text":7,"version":"V2"}"#
        let (error, _) = try await outcome(
            .datasync,
            .update,
            write: response("412 No"),
            lookup: response("200 OK", unfit)
        )
        #expect(error?.code == .conflict && (error?.cause as? RemoteError)?.serverRecord?.version == "V2")
    }

    @Test(
        "a change that is refused over the very version that was sent is told as that",
        arguments: [Call.update, .delete],
        ["409 Conflict", "412 No"]
    )
    func sameVersion(_ call: Call, _ status: String) async throws {
        for version in ["V1", "V2"] {
            let row = Self.live.replacing("V2", with: version)
            let (error, _) = try await outcome(
                .datasync,
                call,
                write: response(status),
                lookup: response("200 OK", row)
            )
            #expect(error?.code == .conflict && error?.serverRecord?.version == .some(version))
            #expect(error?.message.contains("the very version that was sent") == (version == "V1"))
            #expect(error?.message.contains("resolve the conflict") == (version == "V2"))
        }
    }

    @Test("an update of a row that is gone is a conflict with its tombstone, one that is missing is not found")
    func goneUpdate() async throws {
        let (gone, methods) = try await outcome(
            .datasync,
            .update,
            write: response("410 Gone"),
            lookup: response("200 OK", Self.tombstone)
        )
        #expect(gone?.code == .conflict)
        #expect(gone?.status == 410)
        #expect(gone?.serverRecord?.isDeleted == true)
        #expect(methods == ["PUT", "GET"])
        for dialect in DatasyncDialect.allCases {
            let none = dialect == .datasync ? response("404 Not Found") : response("200 OK", "[]")
            let (missing, _) = try await outcome(dialect, .update, write: response("404 Not Found"), lookup: none)
            #expect(missing?.code == .notFound)
        }
    }

    @Test("an update that the server made to a deleted row is a conflict", arguments: [Call.update, .restore])
    func deletedUpdate(_ call: Call) async throws {
        let (error, _) = try await outcome(.azureMobileApps, call, write: response("200 OK", Self.tombstone))
        #expect(error?.code == .conflict)
        #expect(error?.serverRecord?.isDeleted == true)
    }

    @Test(
        "a deletion of what is deleted already is done",
        arguments: ["200 OK", "204 No Content", "404 Not Found", "410 Gone"]
    )
    func deletion(_ status: String) async throws {
        for dialect in DatasyncDialect.allCases {
            #expect(try await outcome(dialect, .delete, write: response(status)).error == nil)
        }
    }

    @Test("a conflict of a deletion with a tombstone, told or fetched, is done as well")
    func deletedTombstone() async throws {
        for dialect in DatasyncDialect.allCases {
            for status in ["409 Conflict", "412 Precondition Failed"] {
                let told = try await outcome(dialect, .delete, write: response(status, Self.tombstone))
                #expect(told.error == nil)
                #expect(told.methods == ["DELETE"])
                let fetched = try await outcome(
                    dialect,
                    .delete,
                    write: response(status),
                    lookup: found(dialect, Self.tombstone)
                )
                #expect(fetched.error == nil)
            }
        }
        let missing = try await outcome(.datasync, .delete, write: response("412 No"), lookup: response("404 No"))
        #expect(missing.error == nil)
    }

    @Test(
        "a deletion that failed is not a deletion",
        arguments: [
            ("500 Oops", RemoteError.Code.serverFailure), ("401 No", .unauthorized), ("202 Later", .notTheService),
        ]
    )
    func failedDeletion(_ status: String, _ code: RemoteError.Code) async throws {
        #expect(try await outcome(.datasync, .delete, write: response(status)).error?.code == code)
    }

    @Test("a look-up finds live rows and tombstones, and nil where there is none", arguments: DatasyncDialect.allCases)
    func lookup(_ dialect: DatasyncDialect) async throws {
        func record(_ answer: String) async throws -> Record? {
            let server = try ScriptedServer(answering: answer)
            return try await DatasyncRemote(baseURL: server.url, dialect: dialect).record("a1", in: Self.table)
        }
        #expect(try await record(found(dialect, Self.live))?.isDeleted == false)
        #expect(try await record(found(dialect, Self.tombstone))?.isDeleted == true)
        if dialect == .datasync {
            #expect(try await record(response("404 Not Found")) == nil)
            #expect(try await record(response("410 Gone")) == nil)
        } else {
            await #expect(throws: RemoteError.self, "a list is there, or the table is not") {
                try await record(response("404 Not Found"))
            }
            #expect(try await record(response("200 OK", "[]")) == nil)
            #expect(try await record(response("200 OK", #"[{"id":"other"}]"#)) == nil)
        }
        await #expect(throws: RemoteError.self) { try await record(response("500 Oops")) }
        await #expect(throws: RemoteError.self) { try await record(response("200 OK", "7")) }
    }
}
