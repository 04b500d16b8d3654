import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import HTTPTransport
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Synchronization
import Testing

@Suite("A request that certainly did not leave")
struct UnsentRequestTests {
    private func context(_ remote: DatasyncRemote, _ store: MemoryStore? = nil) throws -> SyncContext {
        SyncContext(store: try store ?? makeStore(), remote: remote)
    }

    /// Inserts and pushes, which fails, and deletes; whether anything waits then.
    private func isWaitingAfterDeletion(_ context: SyncContext, _ code: SyncError.Code) async throws -> Bool {
        let table = try context.table("TodoItem")
        try await table.insert(["text": "milk"], id: "a")
        #expect(try await syncErrorCode { _ = try await context.push() } == code)
        try await table.delete("a")
        return try await !context.operations().isEmpty
    }

    @Test("while nobody is signed in, an insert and its deletion cancel out", arguments: [nil, "note"])
    func signedOut(_ wireName: String?) async throws {
        let emulator = Emulator(EmulatorConfiguration(tables: ["TodoItem"]))
        let remote: DatasyncRemote = try .datasync(
            EmulatorTransport.url.absoluteString,
            transport: EmulatorTransport(emulator)
        ) { nil }
        let text = ColumnDefinition("text", .string, wireName: wireName)
        let store = MemoryStore(try StoreSchema([TableDefinition("TodoItem", columns: [text])]))
        #expect(try await !isWaitingAfterDeletion(try context(remote, store), .pushAbortedAuthentication))
        #expect(emulator.requests.isEmpty)
    }

    @Test("while there is no connection, they do as well; after one that broke they do not", arguments: [true, false])
    func noConnection(_ isKnown: Bool) async throws {
        let emulator = Emulator(EmulatorConfiguration(tables: ["TodoItem"]))
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator) { _, _ in
                throw TransportError(
                    isKnown ? .cannotConnect : .connectionLost,
                    "broken, on purpose",
                    fate: isKnown ? .notSent : .mayHaveBeenProcessed
                )
            }
        )
        #expect(try await isWaitingAfterDeletion(try context(remote), .pushAbortedNetwork) != isKnown)
    }

    /// What takes two requests.
    enum TwoRequests: CaseIterable {
        /// A POST to the row, then the change.
        case restore
        /// The POST is answered with 405, then a PATCH.
        case restoreWithoutPost
        /// The PUT is answered with 410, then a PATCH.
        case restoreByPatch
        /// A row is made, then deleted.
        case newTombstone
        /// The change is answered with 410, then a PATCH.
        case changedTombstone

        var configuration: EmulatorConfiguration {
            var configuration = EmulatorConfiguration(
                dialect: dialect == .datasync ? .datasync : .azureMobileApps,
                tables: ["TodoItem"]
            )
            switch self {
            case .restore, .newTombstone: configuration.edition = .usual
            case .restoreWithoutPost, .restoreByPatch, .changedTombstone: configuration.edition = .predecessor
            }
            return configuration
        }

        var dialect: DatasyncDialect {
            switch self {
            case .restore, .restoreWithoutPost, .newTombstone: .azureMobileApps
            case .restoreByPatch, .changedTombstone: .datasync
            }
        }

        func send(_ remote: DatasyncRemote, over tombstone: Record) async throws {
            let mine = Record(id: "a", ["text": "mine"])
            switch self {
            case .restore, .restoreWithoutPost, .restoreByPatch:
                _ = try await remote.update(mine, in: todoTable, version: tombstone.version, restoring: true)
            case .newTombstone:
                _ = try await remote.writeTombstone(Record(id: "b", ["text": "b"]), in: todoTable, version: nil)
            case .changedTombstone:
                let version = try #require(tombstone.version)
                _ = try await remote.writeTombstone(mine, in: todoTable, version: version)
            }
        }
    }

    @Test("of what takes two requests, the second one says nothing of the first", arguments: TwoRequests.allCases)
    func secondStep(_ steps: TwoRequests) async throws {
        let emulator = Emulator(steps.configuration)
        let requests = Mutex<Int?>(nil)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: steps.dialect,
            transport: EmulatorTransport(emulator) { request, emulator in
                let isRefused = requests.withLock { left in
                    guard request.method != "GET", let number = left else { return false }
                    left = number - 1
                    return number <= 0
                }
                if isRefused { throw TransportError(.cannotConnect, "broken, on purpose", fate: .notSent) }
                return try await emulator.handle(request)
            }
        )
        let row = try await remote.insert(Record(id: "a", ["text": "milk"]), into: todoTable)
        try await remote.delete("a", from: todoTable, version: row.version)
        let tombstone = try #require(try await remote.record("a", in: todoTable))
        requests.withLock { $0 = 1 }
        let error = await #expect(throws: RemoteError.self) { try await steps.send(remote, over: tombstone) }
        #expect(error?.code == .unreachable)
        #expect(error?.wasNotSent == false, "the first one was sent")
        requests.withLock { $0 = 0 }
        let first = await #expect(throws: RemoteError.self) { try await remote.insert(row, into: todoTable) }
        #expect(first?.wasNotSent == true)
    }
}
