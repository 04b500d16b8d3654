internal import CommandArguments
internal import DatasyncEmulator
internal import Foundation

/// `sealedsync emulator`: a server to try things with.
struct EmulatorCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulator",
        abstract: "Run a Datasync or Azure Mobile Apps server in memory, on this machine only.",
        discussion: """
            Listens on 127.0.0.1. Its first line says where. Ctrl-C stops it; what it held is gone then. It is meant \
            for tests and demonstrations: it asks nobody who they are.
            """
    )

    @Option(name: .customLong("protocol"), help: "3 for Datasync, 2 for Azure Mobile Apps.")
    var protocolNumber = 3

    @Option(help: "The port; 0 for a free one.")
    var port: UInt16 = 0

    @Option(help: "How many rows a page has at most; otherwise as the genuine server: 100, or 50 in protocol 2.")
    var pageSize: Int?

    @Option(help: ArgumentHelp("A table to serve; may be repeated. (default: TodoItem)", valueName: "name"))
    var table: [String] = []

    @Option(
        help: ArgumentHelp(
            "Declare a column of every table, such as date=due; kinds: text, boolean, number, date. May be repeated.",
            valueName: "kind=name"
        )
    )
    var column: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with a certificate in PEM, followed by those between it and its authority: speak TLS.",
            valueName: "file"
        )
    )
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("A file with the certificate's private key in PEM.", valueName: "file"))
    var tlsKey: String?

    @OptionGroup
    var store: EmulatorStoreOptions

    @Flag(help: "Remove deleted rows instead of marking them.")
    var hardDelete = false

    @Flag(help: "Print one JSON object instead of the line.")
    var json = false

    func validate() throws {
        guard protocolNumber == 3 || protocolNumber == 2 else {
            throw ValidationError("--protocol is 3 (Datasync) or 2 (Azure Mobile Apps).")
        }
        guard pageSize.map({ (1...128_000).contains($0) }) ?? true else {
            throw ValidationError("--page-size is 1 to 128000.")
        }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key are given together or not at all.")
        }
        _ = try columns
    }

    private var certificate: ServerCertificate? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return ServerCertificate(certificate: URL(filePath: tlsCertificate), key: URL(filePath: tlsKey))
    }

    private var columns: [String: EmulatedTableDefinition.ColumnType] {
        get throws {
            let kinds: [String: EmulatedTableDefinition.ColumnType] = [
                "text": .string, "boolean": .boolean, "number": .number, "date": .date,
            ]
            var columns: [String: EmulatedTableDefinition.ColumnType] = [:]
            for text in column {
                let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 2, !parts[1].isEmpty, let kind = kinds[parts[0]] else {
                    throw ValidationError("'--column \(text)' is not of the form date=NAME; see --help.")
                }
                columns[parts[1]] = kind
            }
            return columns
        }
    }

    func perform() async throws {
        var configuration = Self.configuration(
            protocolNumber,
            tables: table.isEmpty ? ["TodoItem"] : table,
            columns: try columns,
            softDelete: !hardDelete,
            pageSize: pageSize
        )
        configuration.store = store.behaviour
        let server = EmulatorServer(configuration, certificate: certificate)
        let signals = await TerminationSignals.takenOver()
        let url = try await server.start(port: port)
        if json {
            try Console.write(json: Answer(url: url.absoluteString))
        } else {
            Console.write("listening on \(url.absoluteString)")
        }
        await signals.first()
        await server.stop()
    }

    /// What an emulator of a protocol serves.
    static func configuration(
        _ protocolNumber: Int,
        tables: [String],
        columns: [String: EmulatedTableDefinition.ColumnType] = [:],
        softDelete: Bool = true,
        pageSize: Int? = nil
    ) -> EmulatorConfiguration {
        var configuration = EmulatorConfiguration(
            dialect: protocolNumber == 2 ? .azureMobileApps : .datasync,
            tables: tables.map { EmulatedTableDefinition($0, columns: columns, softDelete: softDelete) }
        )
        configuration.pageSize = pageSize
        return configuration
    }

    private struct Answer: Encodable {
        var url: String
    }
}
