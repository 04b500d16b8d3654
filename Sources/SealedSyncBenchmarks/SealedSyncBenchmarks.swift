internal import CommandArguments

/// The benchmarks, product `sealedsync-bench`.
@main
struct SealedSyncBenchmarks: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealedsync-bench",
        abstract: "Measures the encrypted store against the same work in C on the same library.",
        subcommands: [StoreCommand.self, GrowthCommand.self, CompletionCommand<SealedSyncBenchmarks>.self]
    )
}
