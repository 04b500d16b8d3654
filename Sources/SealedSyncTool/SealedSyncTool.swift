internal import CommandArguments
internal import SealedSyncCommands

/// The program `sealedsync`.
@main
enum SealedSyncTool {
    static func main() async {
        // Before a secret is read.
        SealedSyncCommand.forbidCoreDumps()
        await SealedSyncCommand.main()
    }
}
