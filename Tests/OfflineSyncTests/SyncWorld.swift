import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

/// Two devices and an emulator. What happens on the way between them is for the tests of the adapter.
struct SyncWorld {
    struct Device {
        let store: MemoryStore
        let server: InterceptedServer
        let context: SyncContext
        let table: SyncTable<Record>
        /// What the device calls the server's column `text`.
        let textColumn: String

        func text(_ id: String) async throws -> String? { try await table.read(id)?[textColumn]?.stringValue }

        func texts() async throws -> [String: String] {
            let rows = try await table.read(table.query).records
            return Dictionary(
                uniqueKeysWithValues: rows.map { ($0.id.stringValue ?? "", $0[textColumn]?.stringValue ?? "") }
            )
        }

        /// The device in another process: nothing but what the store has is known.
        func restarted() async throws -> Device {
            let other = MemoryStore(store.schema)
            for table in store.schema.tables.map(\.name) + SystemTables.all.map(\.name) {
                let rows = try await store.read(Query(table)).records
                try await other.write { try $0.upsert(rows, into: table) }
            }
            let context = SyncContext(store: other, remote: server)
            return Device(
                store: other,
                server: server,
                context: context,
                table: try context.table(table.name),
                textColumn: textColumn
            )
        }

        @discardableResult
        func pull() async throws -> PullReport { try await table.pull(queryID: "all") }

        func onlyError() async throws -> TableOperationError<Record> {
            let errors = try await context.operationErrors()
            try #require(errors.count == 1)
            return errors[0]
        }
    }

    let emulator: Emulator
    let dialect: DatasyncDialect
    let phone: Device
    let laptop: Device

    /// What answers a device in the emulator's place.
    struct StandIn: Sendable {
        typealias Answer = @Sendable (EmulatorRequest, Emulator) async throws -> EmulatorResponse

        let answer: Answer

        init(_ answer: @escaping Answer) { self.answer = answer }

        static let none = StandIn { try await $1.handle($0) }
    }

    /// Makes a world and lends it. The laptop may be answered by something else than the emulator, and may declare more
    /// than the phone does, or the table in its own way. Rows are stamped as if they had been written some milliseconds earlier.
    static func with(
        _ dialect: DatasyncDialect,
        edition: EmulatorConfiguration.Edition = .usual,
        pageSize: Int? = nil,
        keepsTombstones: Bool = true,
        ignoresCase: Bool = false,
        age: Int64 = 0,
        batchSize: Int = 1,
        laptopColumns: [ColumnDefinition] = [],
        laptopTable: TableDefinition? = nil,
        answeringLaptop: StandIn = .none,
        _ body: (SyncWorld) async throws -> Void
    ) async throws {
        var configuration = EmulatorConfiguration(
            dialect: dialect == .datasync ? .datasync : .azureMobileApps,
            tables: [EmulatedTableDefinition("TodoItem", softDelete: keepsTombstones)]
        )
        configuration.edition = edition
        configuration.pageSize = pageSize
        configuration.store.ignoresCase = ignoresCase
        let clock = configuration.clock
        configuration.clock = { clock() - age }
        let emulator = Emulator(configuration)
        let world = SyncWorld(
            emulator: emulator,
            dialect: dialect,
            phone: try device(emulator, dialect, batchSize),
            laptop: try device(emulator, dialect, batchSize, laptopColumns, laptopTable, answeringLaptop)
        )
        try await body(world)
        for device in [world.phone, world.laptop] {
            let findings = try await device.store.verifyQueue()
            #expect(findings.isEmpty, "whatever was done, the queue is sound afterwards")
        }
    }

    private static func device(
        _ emulator: Emulator,
        _ dialect: DatasyncDialect,
        _ batchSize: Int,
        _ columns: [ColumnDefinition] = [],
        _ table: TableDefinition? = nil,
        _ standIn: StandIn = .none
    ) throws -> Device {
        let table = table ?? todoTable
        var definition = TableDefinition(
            table.name,
            columns: table.columns + columns,
            idComparison: dialect == .datasync ? .exact : .asciiCaseInsensitive,
            wireName: table.wireName
        )
        definition.standIns = table.standIns
        let store = try makeStore(definition)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: dialect,
            transport: EmulatorTransport(emulator, answering: standIn.answer)
        )
        let server = InterceptedServer(remote, batchSize: batchSize)
        let context = SyncContext(store: store, remote: server)
        return Device(
            store: store,
            server: server,
            context: context,
            table: try context.table(table.name),
            textColumn: table.columns.first { $0.wireName == "text" }?.name ?? "text"
        )
    }

    /// A device with tables of its own.
    static func context(
        _ emulator: Emulator,
        _ dialect: DatasyncDialect,
        _ schema: StoreSchema
    ) throws -> SyncContext { try context(emulator, dialect, MemoryStore(schema)) }

    /// A device with a store of its own.
    static func context(
        _ emulator: Emulator,
        _ dialect: DatasyncDialect,
        _ store: any SyncContextDataSource
    ) throws -> SyncContext {
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: dialect,
            transport: EmulatorTransport(emulator)
        )
        return SyncContext(store: store, remote: InterceptedServer(remote))
    }

    /// The server's rows that are not deleted: text by id.
    func onServer() -> [String: String] {
        let rows = emulator.rows(in: "TodoItem").filter { $0["deleted"] != .bool(true) }
        return Dictionary(
            uniqueKeysWithValues: rows.map { ($0["id"]?.string ?? "", $0["text"]?.string ?? "") }
        )
    }

    /// Both devices hold one item that the server knows.
    func shareItem(_ id: String = "a", _ text: String = "milk") async throws {
        try await phone.table.insert(["text": .string(text), "complete": false], id: id)
        try await phone.pull()
        try await laptop.pull()
        try #require(try await laptop.text(id) == text)
    }
}
