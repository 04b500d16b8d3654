internal import CommandArguments
internal import BenchmarkCommands

/// The program `sealedsync-bench`.
@main
enum SealedSyncBenchmarks {
    static func main() async { await BenchmarkCommand.main() }
}
