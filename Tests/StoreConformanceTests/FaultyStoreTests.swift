import ConformanceFixtures
import Foundation
import ReferenceStore
import StoreConformance
import SyncContract
import Testing

@Suite("FaultyStore")
struct FaultyStoreTests {
    private static let table = TableDefinition("items", columns: [.init("int", .int64)])

    private func memory() throws -> MemoryStore { MemoryStore(try StoreSchema([Self.table])) }

    @Test(
        "keeps nothing of a call that fails before its commit, and everything of one that fails after",
        arguments: StoreFault.Moment.allCases
    )
    func moments(_ moment: StoreFault.Moment) async throws {
        let store = FaultyStore(try memory()) { $0.number == 2 && $0.writes ? .fails(moment) : nil }
        try await store.upsert([Record(id: "a")], table: "items")
        await #expect(throws: StoreError.self) { try await store.upsert([Record(id: "b")], table: "items") }
        try await store.upsert([Record(id: "c")], table: "items")
        let ids = try await store.read(Query("items")).records.map(\.id)
        #expect(ids == (moment == .afterCommit ? ["a", "b", "c"] : ["a", "c"]))
        #expect(store.callCount == 4 && store.faultCount == 1)
    }

    @Test("fails reads as well, and nothing more once it is healed")
    func healed() async throws {
        let store = FaultyStore(try memory()) { _ in .fails(.beforeClosure, StoreError(.full, "planned")) }
        await #expect(throws: StoreError.self) { try await store.read(Query("items")) }
        store.heal()
        #expect(try await store.read(Query("items")).records.isEmpty)
    }

    @Test("without a fault keeps the whole contract")
    func transparent() async throws {
        let report = try await StoreRules.suite.selecting(chapters: ["changes", "transaction", "concurrency"])
            .run(on: StoreSubject(FaultlessHarness()))
        #expect(report.isPassed, "\(report.broken)")
    }

    private struct FaultlessHarness: StoreHarness {
        let name = "FaultyStore"

        func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> FaultyStore<MemoryStore> {
            FaultyStore(MemoryStore(schema)) { _ in nil }
        }
    }

    #if os(Linux) || os(macOS)
    @Test("ends the process at the call it is told to", arguments: [true, false])
    func stops(_ before: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("faulty-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent("store.json").path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, before = before as Bool] in
            let schema = try StoreSchema([TableDefinition("items", columns: [.init("int", .int64)])])
            let file = try FileStore(schema, at: URL(fileURLWithPath: path), key: "k", creating: true)
            let store = FaultyStore(file) {
                $0.number == 3 ? .stopsProcess(before ? .beforeCommit : .afterCommit) : nil
            }
            for number in 1...9 { try await store.upsert([Record(id: .string("\(number)"))], table: "items") }
        }
        let schema = try StoreSchema([Self.table])
        let store = try FileStore(schema, at: URL(fileURLWithPath: path), key: "k", creating: false)
        let ids = try await store.read(Query("items")).records.map(\.id)
        #expect(ids == (before ? ["1", "2"] : ["1", "2", "3"]))
        try FileManager.default.removeItem(at: folder)
    }
    #endif
}
