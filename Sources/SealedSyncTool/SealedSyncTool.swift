internal import CommandArguments
internal import SealedSyncCommands

/// The program `sealedsync`.
@main
enum SealedSyncTool {
    static func main() async { await SealedSyncCommand.main() }
}
