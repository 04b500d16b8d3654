import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import RemoteContract
import SyncContract
import Testing

/// The servers that the adapter has to get along with, as the emulator answers for them, without sockets.
enum EmulatedService: CaseIterable, CustomTestStringConvertible {
    case datasync, genuineDatasync, predecessor, node, node4, predecessorOfProtocol2

    static let table = TableDefinition(
        "todo",
        columns: [.init("text", .string), .init("whole", .int64)]
    )

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

    var testDescription: String { "\(self)" }

    func emulator() -> Emulator {
        var configuration = EmulatorConfiguration(
            dialect: dialect == .datasync ? .datasync : .azureMobileApps,
            tables: [.init("todo", columns: ["text": .text.optional, "whole": .integer.optional])]
        )
        configuration.edition = edition
        configuration.isGenuine = self == .genuineDatasync
        return Emulator(configuration)
    }

    func remote(_ emulator: Emulator) throws(RemoteError) -> DatasyncRemote {
        try DatasyncRemote(baseURL: EmulatorTransport.url, dialect: dialect, transport: EmulatorTransport(emulator))
    }
}
