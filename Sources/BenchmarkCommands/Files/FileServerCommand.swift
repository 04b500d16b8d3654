internal import CommandArguments
internal import DatasyncEmulator
internal import Foundation

/// The other side of what `files` measures, in a process of its own.
struct FileServerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file-server",
        abstract: "Serves the rows and files that 'files' measures with, which starts it itself.",
        discussion: "Its first line says where it listens. It ends when standard input does."
    )

    @Option(help: "Where the files lie.")
    var folder: String

    @Option(
        help: "After how many MB a transfer that goes on with another one is broken off; four times in each direction."
    )
    var cut: Int

    func run() async throws {
        var configuration = EmulatorConfiguration(tables: [EmulatedTableDefinition(FileStepCommand.table)])
        configuration.attachmentFolder = URL(filePath: folder)
        configuration.logCapacity = 0
        let emulator = Emulator(configuration)
        emulator.inject(
            .cutRequest(after: cut << 20, times: 4) { $0.headers["Upload-Offset"].map { $0 != "0" } ?? false }
        )
        emulator.inject(.cut(after: cut << 20, times: 4) { $0.method == "GET" && $0.headers["Range"] != nil })
        let server = EmulatorServer(emulator)
        Report.write(try await server.start().absoluteString)
        await StandardInput.end()
        await server.stop()
    }
}
