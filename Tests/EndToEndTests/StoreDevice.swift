import Foundation
import SealedSync
import Testing

/// A store folder that `sealedsync store` works on, made by this process: no schema of the tool's own.
struct StoreDevice {
    let folder: StoreFolder

    static let table = TableDefinition(
        "Notes",
        columns: [.init("text", .string), .init("content", .bytes)],
        indexes: [["text"]]
    )

    var path: String { folder.url.path }
    var database: URL { folder.databaseURL }
    var secretFile: URL { folder.url.appendingPathComponent("store.secret") }
    private var unlocker: SecretFileUnlocker { SecretFileUnlocker(at: secretFile) }

    init(_ url: URL) { folder = StoreFolder(url) }

    /// Makes a store with rows of a size, every second one of them deleted again when asked for, and a change that waits.
    static func make(
        _ url: URL,
        rows: Int = 20,
        bytesInRow: Int = 1_000,
        deletesHalf: Bool = false
    ) async throws -> StoreDevice {
        let device = StoreDevice(url)
        let store = try await device.folder.create(StoreSchema([table]), unlocker: device.unlocker)
        let records = (0..<rows)
            .map { index in
                Record(
                    id: .string("note-\(index)"),
                    [
                        "text": .string("marker \(index)"),
                        "content": .bytes(Array(repeating: UInt8(index & 255), count: bytesInRow)),
                    ]
                )
            }
        try await store.upsert(records, table: table.name)
        if deletesHalf {
            let gone = stride(from: 1, to: rows, by: 2).map { RecordID.string("note-\($0)") }
            try await store.deleteItems(withIDs: gone, table: table.name)
        }
        let context = SyncContext(
            store: store,
            remote: try DatasyncRemote(baseURL: #require(URL(string: "http://127.0.0.1:9")), dialect: .datasync)
        )
        try await context.table(table.name).insert(["text": "waits"], id: "waiting")
        await store.close()
        return device
    }

    /// Every row of the table by its id, read with the store's declaration.
    func rows() async throws -> [RecordID: Record] {
        let store = try await folder.open(StoreSchema([Self.table]), unlocker: unlocker)
        let records = try await store.read { try $0.records(Query(Self.table.name)) }
        let waiting = try await store.read { try $0.count(Query(SystemTables.operations.name)) }
        await store.close()
        #expect(waiting == 1, "the change still waits")
        return Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0) })
    }

    /// Runs an action of `sealedsync store`.
    func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        through launcher: [String] = []
    ) async throws -> ToolProcess.Result {
        try await ToolProcess.run(
            ["store"] + arguments + ["--store", path],
            environment: environment,
            through: launcher
        )
    }

    /// Runs an action that must succeed, says nothing on standard error, and answers with one JSON object.
    func json(_ arguments: String...) async throws -> [String: Any] {
        let result = try await run(arguments + ["--json"])
        try #require(result.status == 0, "\(arguments): \(result.errors)")
        #expect(result.errors.isEmpty, "no progress where there is no terminal")
        return try result.json()
    }

    /// The names of the files in the folder.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

    /// The files by their names, without the lock.
    func contents() throws -> [String: Data] {
        let names = try names().filter { !$0.hasSuffix(".lock") }
        return Dictionary(
            uniqueKeysWithValues: try names.map { ($0, try Data(contentsOf: folder.url.appendingPathComponent($0))) }
        )
    }
}
