package import CommandArguments

/// The benchmarks, product `sealedsync-bench`.
package struct BenchmarkCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "sealedsync-bench",
        abstract: "Measures the encrypted store and the sync against the same work with nothing around it.",
        subcommands: [
            StoreCommand.self, SyncCommand.self, GrowthCommand.self, EmulatorCommand.self, FilesCommand.self,
            ServerCommand.self, FileServerCommand.self, FileStepCommand.self, CompletionCommand<BenchmarkCommand>.self,
        ]
    )

    package init() {}
}
