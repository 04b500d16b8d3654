import DatasyncEmulator
import Foundation
import ReferenceStore
import SealedSync
import StoreConformance
import Testing

/// The code of the article "Testing an app", word for word, as a test.
@Suite("The article about testing")
struct TestingCodeTests {
    private func address(_ port: Int) throws -> SyncContext {
        let store = MemoryStore(try StoreSchema([TableDefinition(TodoItem.self)]))
        let context = SyncContext(store: store, remote: try .datasync("http://127.0.0.1:\(port)"))
        return context
    }

    @Test("what is pushed arrives, also when the answer gets lost")
    func server() async throws {
        let store = MemoryStore(try StoreSchema([TableDefinition(TodoItem.self)]))
        let server = EmulatorServer(EmulatorConfiguration(tables: ["TodoItem"]))
        let url = try await server.start()
        let context = SyncContext(store: store, remote: try DatasyncRemote(baseURL: url, dialect: .datasync))
        try await context.table(TodoItem.self).insert(TodoItem(text: "Buy milk"))
        let report = try await context.push()
        #expect(report.pushed == 1)
        #expect(server.emulator.rows(in: "TodoItem").count == 1)

        try await context.table(TodoItem.self).insert(TodoItem(text: "Call Ann"))
        server.emulator.inject(.applyThenDrop { $0.method == "POST" })
        await #expect(throws: SyncError.self) { try await context.push() }
        let again = try await context.push()
        #expect(again.pushed == 1)
        #expect(server.emulator.rows(in: "TodoItem").count == 2)
        await server.stop()
        #expect(try await address(8080).operations().isEmpty)
    }

    @Test("a table of the server in the test has columns, as the page about it says")
    func columns() async throws {
        let table = EmulatedTableDefinition(
            "TodoItem",
            columns: [
                "text": .text.optional, "complete": .boolean, "priority": .integer.optional, "due": .date.optional,
            ]
        )
        let server = EmulatorServer(EmulatorConfiguration(tables: [table]))
        let url = try await server.start()
        #expect(url.scheme == "http")
        await server.stop()
    }

    @Test("a store fails where it is told to")
    func fault() async throws {
        let schema = try StoreSchema([TableDefinition(TodoItem.self)])
        let store = FaultyStore(MemoryStore(schema)) { call in
            call.number == 7 ? .fails(.beforeCommit) : nil
        }
        #expect(store.faultCount == 0)
    }
}
