package import CommandArguments

/// The benchmarks, product `sealedsync-bench`.
package struct BenchmarkCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "sealedsync-bench",
        abstract: "Measures the encrypted store against the same work in C on the same library.",
        subcommands: [StoreCommand.self, GrowthCommand.self, EmulatorCommand.self, CompletionCommand<BenchmarkCommand>.self]
    )

    package init() {}
}
