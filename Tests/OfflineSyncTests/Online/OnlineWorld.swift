import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import OfflineSync
import ReferenceStore
import SyncContract
import Testing

/// A context over an emulator, to work with the server's tables directly.
struct OnlineWorld {
    /// The servers that tables have to work with.
    enum Service: CaseIterable {
        case datasync, genuineDatasync, predecessor, node, node4, predecessorOfProtocol2

        var dialect: DatasyncDialect {
            switch self {
            case .datasync, .genuineDatasync, .predecessor: .datasync
            case .node, .node4, .predecessorOfProtocol2: .azureMobileApps
            }
        }

        var edition: EmulatorConfiguration.Edition {
            switch self {
            case .datasync, .genuineDatasync, .node: .usual
            case .predecessor, .predecessorOfProtocol2: .predecessor
            case .node4: .node4
            }
        }
    }

    let emulator: Emulator
    let context: SyncContext

    init(
        _ service: Service,
        pageSize: Int? = nil,
        assignsIDs: Bool = false,
        keepsTombstones: Bool = true,
        answering: SyncWorld.StandIn = .none
    ) throws {
        var configuration = EmulatorConfiguration(
            dialect: service.dialect == .datasync ? .datasync : .azureMobileApps,
            tables: ["TodoItem", "Other"].map { EmulatedTableDefinition($0, softDelete: keepsTombstones) }
        )
        configuration.edition = service.edition
        configuration.isGenuine = service == .genuineDatasync
        configuration.pageSize = pageSize
        configuration.store.assignsIDs = assignsIDs
        emulator = Emulator(configuration)
        let definition = TableDefinition(
            "TodoItem",
            columns: todoTable.columns,
            idComparison: service.dialect == .datasync ? .exact : .asciiCaseInsensitive
        )
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: service.dialect,
            transport: EmulatorTransport(emulator, answering: answering.answer)
        )
        context = SyncContext(store: try makeStore(definition), remote: remote)
    }

    func seed(_ count: Int) throws {
        let rows = (0..<count)
            .map { number -> [String: JSONValue] in
                [
                    "id": .string("id-\(1_000 + number)"), "text": .string("t\(number % 3)"),
                    "complete": .bool(number % 2 == 0),
                ]
            }
        try emulator.seed(rows, in: "TodoItem")
    }
}
