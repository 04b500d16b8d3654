internal import ArgumentParser

/// The benchmarks, product `sealedsync-bench`.
@main
struct SealedSyncBenchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealedsync-bench",
        abstract: "Measures the encrypted store against the same work in C on the same library.",
        subcommands: [StoreCommand.self, GrowthCommand.self]
    )
}
