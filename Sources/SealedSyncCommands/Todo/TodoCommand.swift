internal import CommandArguments

/// `sealedsync todo`: the quickstart of the original tutorials as a program, one process per call.
struct TodoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "todo",
        abstract: "Keep an encrypted to-do list that works offline and syncs.",
        discussion: """
            Every action works on the store in --store DIR. 'init' makes one; only 'push', 'pull', 'sync' and 'watch' use \
            the network. With --json every action prints exactly one JSON object, 'watch' one for each change.

            \(StoreOptions.unlockingHelp)
            """,
        subcommands: [
            TodoInit.self, TodoAdd.self, TodoList.self, TodoDone.self, TodoReopen.self, TodoEdit.self,
            TodoDelete.self, TodoPush.self, TodoPull.self, TodoSync.self, TodoStatus.self, TodoConflicts.self,
            TodoResolve.self, TodoRetry.self, TodoUndo.self, TodoPurge.self, TodoWatch.self,
        ]
    )
}
