#if os(Linux)
import ConformanceFixtures
import Foundation
import SyncContract
import Testing

@Suite("The store that the documentation builds")
struct LogStoreTests {
    @Test("opens again after it was closed although a program that is just starting has a duplicate of its descriptor")
    func duplicate() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString).log"
        defer { unsafe unlink(path) }
        let schema = try StoreSchema([TableDefinition("items", columns: [.init("int", .int64)])])
        let store = try LogStore(schema, at: path, creating: true)
        let duplicate = dup(try #require(try Self.descriptor(of: path)))
        try #require(duplicate >= 0)
        defer { close(duplicate) }
        let refused = #expect(throws: StoreError.self) { try LogStore(schema, at: path, creating: false) }
        #expect(refused?.code == .inUse)
        await store.close()
        try await LogStore(schema, at: path, creating: false).close()
    }

    /// The descriptor under which this process has a file open.
    private static func descriptor(of path: String) throws -> Int32? {
        let place = URL(filePath: path).resolvingSymlinksInPath().path
        let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init)
        return numbers.first { URL(filePath: "/proc/self/fd/\($0)").resolvingSymlinksInPath().path == place }
    }
}
#endif
