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

    @Test("the codes of pages are what the description says, in every format that the linked library has")
    func pageCodes() async throws {
        let engine = try EncryptedStore.linkedEngineVersion()
        let newest = try #require(engine.newestFormat)
        for format in FileHeader.Format.allCases where format.rawValue <= newest.rawValue {
            let folder = try TestFolder()
            try folder.createStore(format)
            let count = try #require(folder.contents()["store.db"]).count / FileHeader.pageSize
            func lines(wrong: Int?) -> String {
                (1...count).map { "page \($0) is \($0 == wrong ? "wrong" : "right")\n" }.joined()
            }
            #expect(try await checkPages(folder).output == lines(wrong: nil), "format \(format)")
            try folder.edit { $0[FileHeader.pageSize + 7] ^= 1 }
            #expect(try await checkPages(folder).output == lines(wrong: 2), "format \(format)")
        }
    }

    @Test("the tables of the store's own have the columns that the description lists")
    func columns() async throws {
        let folder = try TestFolder()
        try await EncryptedStore.open(in: folder).close()
        let database = try folder.openDatabase()
        let lines = try blocks("columns").joined().split(separator: "\n").map(String.init)
        #expect(lines.count == 1 + SystemTables.all.count)
        for line in lines {
            let table = try #require(line.components(separatedBy: ": ").first)
            let columns = try database.withStatement("PRAGMA table_info(\(table.sqlIdentifier))") { row in
                var columns: [String] = []
                while try row.step() { columns.append("\(row.text(1)) \(row.text(2))") }
                return columns
            }
            #expect(line == "\(table): \(columns.joined(separator: ", "))")
        }
    }

    /// The blocks of a kind in the description.
    private func blocks(_ kind: String) throws -> [String] {
        let here = URL(filePath: #filePath).deletingLastPathComponent()
        let description = here.appending(path: "../../Sources/SQLCipherStore/README.md")
        let text = try String(contentsOf: description, encoding: .utf8)
        return text.components(separatedBy: "```\(kind)\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
    }

    private func read(_ folder: TestFolder, key: UInt8, _ sql: String) async throws -> (status: Int32, output: String) {
        let digits = String(repeating: (key < 16 ? "0" : "") + String(key, radix: 16), count: 32)
        return try await run(program: 0, folder, ["libsqlcipher.so.0", folder.database.path, digits, sql])
    }

    private func checkPages(_ folder: TestFolder) async throws -> (status: Int32, output: String) {
        try await run(program: 1, folder, [folder.database.path, String(repeating: "07", count: 32)])
    }

    private func run(
        program number: Int,
        _ folder: TestFolder,
        _ arguments: [String]
    ) async throws -> (status: Int32, output: String) {
        let program = folder.url.appending(path: "program.py")
        try Data(blocks("python")[number].utf8).write(to: program)
        let result = try await ChildProcess.run(.named("python3", [program.path] + arguments))
        return (result.status ?? -1, result.output)
    }
}
