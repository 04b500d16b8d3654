internal import ArgumentParser
internal import DatasyncEmulator

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

    @Flag(help: "Print one JSON object instead of the line.")
    var json = false

    func validate() throws {
        guard protocolNumber == 3 || protocolNumber == 2 else {
            throw ValidationError("--protocol is 3 (Datasync) or 2 (Azure Mobile Apps).")
        }
        guard pageSize.map({ (1...128_000).contains($0) }) ?? true else {
            throw ValidationError("--page-size is 1 to 128000.")
        }
    }

    func perform() async throws {
        let server = try await Self.makeServer(
            protocolNumber: protocolNumber,
            port: port,
            pageSize: pageSize,
            tables: table.isEmpty ? ["TodoItem"] : table
        )
        if json {
            try Console.write(json: Answer(url: server.url.absoluteString))
        } else {
            Console.write("listening on \(server.url.absoluteString)")
        }
        await TerminationSignals.wait()
        await server.stop()
    }

    private struct Answer: Encodable {
        var url: String
    }
}
