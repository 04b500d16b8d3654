import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import HTTPTransport
import RemoteContract
import SyncContract
import Testing

@Suite("Tombstones that no late request can undo", .timeLimit(.minutes(5)))
struct TombstoneTests {
    private static let table = EmulatedService.table
    private static let row = Record(id: "a1", ["text": "mine", "whole": 1])

    private func error(_ call: () async throws -> Void) async throws -> RemoteError? {
        do {
            try await call()
            return nil
        } catch let error as RemoteError {
            return error
        }
    }

    @Test(
        "a row is created as deleted, and an insert that arrives late finds its id taken",
        arguments: EmulatedService.allCases
    )
    func createdAsDeleted(_ service: EmulatedService) async throws {
        let remote = try service.remote(service.emulator())
        let written = try await remote.writeTombstone(Self.row, in: Self.table, version: nil)
        let found = try #require(try await remote.record("a1", in: Self.table))
        #expect(found.isDeleted && found["text"] == "mine")
        #expect(written == found || written == nil && service == .predecessorOfProtocol2)
        let late = try await error { _ = try await remote.insert(Self.row, into: Self.table) }
        #expect(late?.code == .conflict && late?.serverRecord == found)
    }

    @Test(
        "protocol 3 shows nobody a live row meanwhile",
        arguments: [EmulatedService.datasync, .genuineDatasync, .predecessor]
    )
    func oneRequest(_ service: EmulatedService) async throws {
        let emulator = service.emulator()
        let remote = try service.remote(emulator)
        _ = try await remote.writeTombstone(Self.row, in: Self.table, version: nil)
        #expect(emulator.requests.map(\.request.method) == ["POST"])
        guard service.edition != .predecessor else { return }
        let version = try await remote.record("a1", in: Self.table)?.version
        emulator.clearRequests()
        _ = try await remote.writeTombstone(Self.row, in: Self.table, version: version)
        #expect(emulator.requests.map(\.request.method) == ["PUT"])
    }

    @Test(
        "without a version, a row that is there is a conflict with it, deleted or not",
        arguments: EmulatedService.allCases
    )
    func idTaken(_ service: EmulatedService) async throws {
        let remote = try service.remote(service.emulator())
        let live = try await remote.insert(Self.row, into: Self.table)
        for isDeleted in [false, true] {
            if isDeleted { try await remote.delete("a1", from: Self.table, version: live.version) }
            let server = try #require(try await remote.record("a1", in: Self.table))
            let taken = try await error {
                _ = try await remote.writeTombstone(Record(id: "a1"), in: Self.table, version: nil)
            }
            #expect(taken?.code == .conflict && taken?.serverRecord == server && server.isDeleted == isDeleted)
            #expect(try await remote.record("a1", in: Self.table) == server)
        }
    }

    @Test(
        "a tombstone gets another version, and a restore based on the old one fails",
        arguments: EmulatedService.allCases
    )
    func writtenAnew(_ service: EmulatedService) async throws {
        let remote = try service.remote(service.emulator())
        let live = try await remote.insert(Self.row, into: Self.table)
        try await remote.delete("a1", from: Self.table, version: live.version)
        let old = try #require(try await remote.record("a1", in: Self.table))
        let written = try await remote.writeTombstone(Self.row, in: Self.table, version: old.version)
        let new = try #require(try await remote.record("a1", in: Self.table))
        #expect(new.isDeleted && new.version != old.version)
        #expect(written == new || written == nil && service.edition == .predecessor)
        let late = try await error {
            _ = try await remote.update(Self.row, in: Self.table, version: old.version, restoring: true)
        }
        #expect(late?.code == .conflict && late?.serverRecord == new)
        #expect(try await remote.record("a1", in: Self.table) == new)
    }

    @Test("with another version than the server's it changes nothing", arguments: EmulatedService.allCases)
    func stale(_ service: EmulatedService) async throws {
        let remote = try service.remote(service.emulator())
        let first = try await remote.insert(Self.row, into: Self.table)
        for isDeleted in [false, true] {
            let live = try await remote.update(Self.row, in: Self.table, version: nil, restoring: false)
            if isDeleted { try await remote.delete("a1", from: Self.table, version: live.version) }
            let server = try #require(try await remote.record("a1", in: Self.table))
            let stale = try await error {
                _ = try await remote.writeTombstone(Self.row, in: Self.table, version: first.version)
            }
            #expect(stale?.code == .conflict && stale?.serverRecord == server && server.isDeleted == isDeleted)
            #expect(try await remote.record("a1", in: Self.table) == server)
        }
    }

    @Test("a row that is not there has no tombstone to write anew", arguments: EmulatedService.allCases)
    func missing(_ service: EmulatedService) async throws {
        let remote = try service.remote(service.emulator())
        let missing = try await error {
            _ = try await remote.writeTombstone(Self.row, in: Self.table, version: "MQ==")
        }
        #expect(missing?.code == .notFound)
    }

    @Test(
        "where a row is created before it is deleted, an edit in between is a conflict",
        arguments: [EmulatedService.node, .node4, .predecessorOfProtocol2]
    )
    func editedInBetween(_ service: EmulatedService) async throws {
        let emulator = service.emulator()
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: service.dialect,
            transport: EmulatorTransport(emulator) { request, emulator in
                if request.method == "DELETE" {
                    var edit = request
                    edit.method = "PATCH"
                    edit.headers["If-Match"] = nil
                    edit.headers["Content-Type"] = "application/json"
                    edit.body = .init(#"{"text":"theirs"}"#.utf8)
                    let answer = try await emulator.handle(edit)
                    #expect(answer.status == 200)
                }
                return try await emulator.handle(request)
            }
        )
        let edited = try await error { _ = try await remote.writeTombstone(Self.row, in: Self.table, version: nil) }
        #expect(edited?.code == .conflict && edited?.serverRecord?["text"] == "theirs")
    }

    @Test(
        "a remote without a request for it creates and deletes, or restores and deletes",
        arguments: EmulatedService.allCases
    )
    func defaultImplementation(_ service: EmulatedService) async throws {
        let server = try service.remote(service.emulator())
        let remote = SmallRemote(server: server)
        _ = try await remote.writeTombstone(Self.row, in: Self.table, version: nil)
        let old = try #require(try await server.record("a1", in: Self.table))
        _ = try await remote.writeTombstone(Self.row, in: Self.table, version: old.version)
        let new = try #require(try await server.record("a1", in: Self.table))
        #expect(old.isDeleted && new.isDeleted && new.version != old.version)
    }

    @Test(
        "a remote without a request for it says so when the deletion is not confirmed and the row is still there",
        arguments: EmulatedService.allCases
    )
    func unconfirmedDefault(_ service: EmulatedService) async throws {
        let emulator = service.emulator()
        let server = try service.remote(emulator)
        let remote = SmallRemote(server: server)
        emulator.inject(.respond(EmulatorResponse(200), times: 1) { $0.method == "DELETE" })
        let failure = try await error { _ = try await remote.writeTombstone(Self.row, in: Self.table, version: nil) }
        #expect(failure?.code == .serverFailure)
        #expect(try await server.record("a1", in: Self.table)?.isDeleted == false)
    }
}

/// A remote that leaves out what has a default.
private struct SmallRemote: SyncRemote {
    let server: DatasyncRemote

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await server.insert(record, into: table)
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        try await server.update(record, in: table, version: version, restoring: restoring)
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await server.delete(id, from: table, version: version)
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        try await server.record(id, in: table)
    }

    func confirm(_ table: TableDefinition) async throws { try await server.confirm(table) }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        try await server.page(query, of: table, at: position, pageSize: pageSize)
    }
}
