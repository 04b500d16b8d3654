import ChildProcesses
import Foundation
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("A store read by another program")
struct ForeignReaderTests {
    @Test("the Python program of the description reads every format that the linked library has")
    func python() async throws {
        let engine = try EncryptedStore.linkedEngineVersion()
        let newest = try #require(engine.newestFormat)
        for format in FileHeader.Format.allCases where format.rawValue <= newest.rawValue {
            let folder = try TestFolder()
            try StoreCreator(files: StoreFiles(folder.database.path), engine: engine, format: format)
                .create(.testKey(), StoreSchema([.items, .searchable("T")]))
            let store = try await EncryptedStore.open(in: folder, [.items, .searchable("T")], mode: .openExisting)
            let row = Record(id: "1", ["text": "Łódź", "int": 7, "undeclared": "kept"])
            try await store.upsert([row], table: "items")
            try await store.upsert([Record(id: "2", ["shop": "Łódź"])], table: "T")
            await store.close()

            let sql = "SELECT id, \"text\", \"int\", \"bytes\", __sealed_extra FROM items"
            let right = try await read(folder, key: 7, sql)
            #expect(right.output == "1\tŁódź\t7\tNULL\t{\"u:undeclared\":\"string:kept\"}\n", "format \(format)")
            // The index of a searchable column calls functions that this program does not have.
            #expect(try await read(folder, key: 7, "SELECT shop FROM T ORDER BY shop").output == "Łódź\n")
            #expect(try await read(folder, key: 8, sql).status != 0, "a wrong key reads nothing")
        }
    }

    private func read(_ folder: TestFolder, key: UInt8, _ sql: String) async throws -> (status: Int32, output: String) {
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        let description = here.appending(path: "../../Sources/SQLCipherStore/README.md")
        let text = try String(contentsOf: description, encoding: .utf8)
        let start = try #require(text.range(of: "```python\n")).upperBound
        let end = try #require(text.range(of: "```", range: start..<text.endIndex)).lowerBound
        let program = folder.url.appending(path: "reader.py")
        try Data(text[start..<end].utf8).write(to: program)

        let digits = String(repeating: (key < 16 ? "0" : "") + String(key, radix: 16), count: 32)
        let arguments = [program.path, "libsqlcipher.so.0", folder.database.path, digits, sql]
        let result = try await ChildProcess.run(.named("python3", arguments))
        return (result.status ?? -1, result.output)
    }
}
