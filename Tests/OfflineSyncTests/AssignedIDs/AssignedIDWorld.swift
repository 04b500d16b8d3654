import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import Testing

/// Two devices and a server that chooses the ids of lists and of the tasks in them.
struct AssignedIDWorld {
    struct Device {
        let store: MemoryStore
        let server: InterceptedServer
        let context: SyncContext
        let lists: SyncTable<Record>
        let tasks: SyncTable<Record>

        /// The device after it was killed: another context over what the store has.
        func restarted() throws -> Device { try Device(store: store, server: server, over: store) }

        /// The device with a store some of whose calls fail.
        func failing(_ plan: @escaping @Sendable (StoreCall) -> StoreFault?) throws -> Device {
            try Device(store: store, server: server, over: FaultyStore(store, plan))
        }

        init(store: MemoryStore, server: InterceptedServer, over used: any SyncContextDataSource) throws {
            self.store = store
            self.server = server
            context = SyncContext(store: used, remote: server)
            lists = try context.table("Lists")
            tasks = try context.table("Tasks")
        }

        func pullAll(_ options: PullOptions = .init()) async throws {
            try await context.pull(lists, tasks, options: options)
        }

        /// The texts of tasks with those of their lists.
        func told() async throws -> [String] { try await AssignedIDWorld.told(store) }

        func texts(_ table: String) async throws -> [String] {
            try await store.read(Query(table)).records.compactMap { $0["text"]?.stringValue }.sorted()
        }
    }

    /// The texts of a store's tasks with those of their lists.
    static func told(_ store: MemoryStore) async throws -> [String] {
        let lists = try await store.read(Query("Lists")).records
        let names = Dictionary(uniqueKeysWithValues: lists.map { ($0.id, $0["text"]?.stringValue ?? "") })
        return try await store.read(Query("Tasks")).records
            .map { task in
                let list = task["list"]?.stringValue.map { names[.string($0)] ?? "?" } ?? "none"
                return "\(list): \(task["text"]?.stringValue ?? "")"
            }
            .sorted()
    }

    let emulator: Emulator
    let phone: Device
    let laptop: Device

    static func tables(_ dialect: DatasyncDialect) -> [TableDefinition] {
        let comparison: IDComparison = dialect == .datasync ? .exact : .asciiCaseInsensitive
        return [
            TableDefinition(
                "Lists",
                columns: [.init("text", .string), .init("first", .string, references: "Tasks")],
                idComparison: comparison,
                assignsIDs: true
            ),
            TableDefinition(
                "Tasks",
                columns: [
                    .init("text", .string), .init("complete", .bool), .init("list", .string, references: "Lists"),
                    .init("parent", .string, references: "Tasks"),
                ],
                idComparison: comparison,
                assignsIDs: true
            ),
        ]
    }

    static func with(
        _ dialect: DatasyncDialect = .datasync,
        pageSize: Int? = nil,
        keepsTombstones: Bool = true,
        _ body: (AssignedIDWorld) async throws -> Void
    ) async throws {
        var configuration = EmulatorConfiguration(
            dialect: dialect == .datasync ? .datasync : .azureMobileApps,
            tables: ["Lists", "Tasks"].map { EmulatedTableDefinition($0, softDelete: keepsTombstones) }
        )
        configuration.pageSize = pageSize
        let emulator = Emulator(configuration)
        let world = AssignedIDWorld(
            emulator: emulator,
            phone: try device(emulator, dialect),
            laptop: try device(emulator, dialect)
        )
        try await body(world)
        for device in [world.phone, world.laptop] {
            #expect(try await device.store.verifyQueue().isEmpty, "the queue is sound afterwards")
            for table in ["Lists", "Tasks"] {
                let local = Set(try await device.store.read(Query(table)).records.compactMap(\.id.stringValue))
                let there = Set(world.emulator.rows(in: table).compactMap { $0["id"]?.string })
                #expect(local.isDisjoint(with: there), "the server has chosen every id")
            }
        }
    }

    private static func device(_ emulator: Emulator, _ dialect: DatasyncDialect) throws -> Device {
        let store = MemoryStore(try StoreSchema(tables(dialect)))
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: dialect,
            transport: EmulatorTransport(emulator)
        )
        return try Device(store: store, server: InterceptedServer(remote), over: store)
    }

    /// The server's rows of a table that are not deleted.
    func onServer(_ table: String) -> [[String: JSONValue]] {
        emulator.rows(in: table).filter { $0["deleted"] != .bool(true) }
    }

    /// The texts of the server's tasks with those of their lists.
    func toldByServer() -> [String] {
        let names = Dictionary(
            uniqueKeysWithValues: onServer("Lists").map { ($0["id"]?.string ?? "", $0["text"]?.string ?? "") }
        )
        return onServer("Tasks")
            .map { task in
                let list = task["list"]?.string.map { names[$0] ?? "?" } ?? "none"
                return "\(list): \(task["text"]?.string ?? "")"
            }
            .sorted()
    }

    func textsOnServer(_ table: String) -> [String] { onServer(table).compactMap { $0["text"]?.string }.sorted() }
}
