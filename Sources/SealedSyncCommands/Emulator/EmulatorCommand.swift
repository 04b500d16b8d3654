internal import CommandArguments
internal import DatasyncEmulator
internal import Foundation

/// `sealedsync emulator`: a server to try things with.
struct EmulatorCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulator",
        abstract: "Run a Datasync or Azure Mobile Apps server in memory, on this machine only.",
        discussion: """
            Listens on 127.0.0.1. Its first line says where. Ctrl-C stops it; what it held is gone then, unless \
            --save keeps it. It is meant for tests, demonstrations and development: without --user it asks nobody who \
            they are. POST /__reset takes all rows back to those of --data.
            """
    )

    @Option(name: .customLong("protocol"), help: "3 for Datasync, 2 for Azure Mobile Apps.")
    var protocolNumber = 3

    @Option(help: "The port; 0 for a free one.")
    var port: UInt16 = 0

    @Option(help: "How many rows a page has at most; otherwise as the genuine server: 100, or 50 in protocol 2.")
    var pageSize: Int?

    @OptionGroup var tableOptions: EmulatedTableOptions

    @Flag(
        help: ArgumentHelp(
            """
            Protocol 3: answer as the genuine server also where that is no good, such as 500 to a broken body, or a write \
            without condition for an If-Match that cannot be read.
            """
        )
    )
    var genuine = false

    @Option(
        help: ArgumentHelp(
            "A file with a certificate in PEM, followed by those between it and its authority: speak TLS.",
            valueName: "file"
        )
    )
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("A file with the certificate's private key in PEM.", valueName: "file"))
    var tlsKey: String?

    @Option(help: "The largest $top that is accepted; otherwise as the genuine server: 128000, or 1000 in protocol 2.")
    var maxTop: Int?

    @Flag(
        help: ArgumentHelp(
            """
            Be the Azure Mobile Apps server for .NET. A deleted row comes back by PATCH only, whoever loses a race gets \
            500, dates end in +00:00, lists of protocol 2 have no link.
            """
        )
    )
    var predecessor = false

    @Flag(help: "Protocol 2: be version 4 of the Node server, which answers 404 to an update of a deleted row.")
    var node4 = false

    @OptionGroup
    var store: EmulatorStoreOptions

    @OptionGroup
    var serving: EmulatorServingOptions

    @Flag(help: "Print one JSON object instead of the line.")
    var json = false

    func validate() throws {
        guard protocolNumber == 3 || protocolNumber == 2 else {
            throw ValidationError("--protocol is 3 (Datasync) or 2 (Azure Mobile Apps).")
        }
        guard pageSize.map({ (1...128_000).contains($0) }) ?? true else {
            throw ValidationError("--page-size is 1 to 128000.")
        }
        guard maxTop.map({ (1...1_000_000).contains($0) }) ?? true else {
            throw ValidationError("--max-top is 1 to 1000000.")
        }
        guard !(predecessor && node4) else {
            throw ValidationError("--predecessor and --node4 are two servers; choose one.")
        }
        guard !node4 || protocolNumber == 2 else {
            throw ValidationError("--node4 goes with --protocol 2.")
        }
        let isDotNet = protocolNumber == 3 || predecessor
        guard !genuine || isDotNet else {
            throw ValidationError("--genuine goes with --protocol 3 or --predecessor.")
        }
        guard !store.noConcurrencyToken || isDotNet else {
            throw ValidationError("--no-concurrency-token goes with --protocol 3; Node checks as it writes.")
        }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key are given together or not at all.")
        }
    }

    private var certificate: ServerCertificate? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return ServerCertificate(certificate: URL(filePath: tlsCertificate), key: URL(filePath: tlsKey))
    }

    func perform() async throws {
        let rows = try serving.readData()
        var tables = try tableOptions.definitions
        if let rows { tables += try serving.missingTables(in: rows, named: tables) }
        var configuration = Self.configuration(protocolNumber, tables: tables, pageSize: pageSize)
        configuration.isGenuine = genuine
        configuration.store = store.behaviour
        configuration.maximumTop = maxTop
        configuration.edition = predecessor ? .predecessor : node4 ? .node4 : .usual
        configuration.users = try serving.users
        configuration.attachmentFolder = serving.attachments.map { URL(filePath: $0) }
        configuration.faultRate = (serving.faults ?? 0) / 100
        let emulator = Emulator(configuration)
        if let rows { try serving.load(rows, into: emulator) }
        var development = DevelopmentResponder(origin: serving.cors)
        if serving.log { development.log = { line in Console.writeError(line) } }
        let server = EmulatorServer(emulator, certificate: certificate) { [development] request, emulator in
            try await development.respond(request, emulator)
        }
        let signals = await TerminationSignals.takenOver()
        let url = try await server.start(port: port)
        if json {
            try Console.write(json: Answer(url: url.absoluteString))
        } else {
            Console.write("listening on \(url.absoluteString)")
        }
        await signals.first()
        await server.stop()
        try serving.saveRows(of: emulator)
    }

    /// What an emulator of a protocol serves.
    static func configuration(
        _ protocolNumber: Int,
        tables: [EmulatedTableDefinition],
        pageSize: Int? = nil
    ) -> EmulatorConfiguration {
        var configuration = EmulatorConfiguration(
            dialect: protocolNumber == 2 ? .azureMobileApps : .datasync,
            tables: tables
        )
        configuration.pageSize = pageSize
        return configuration
    }

    private struct Answer: Encodable {
        var url: String
    }
}
