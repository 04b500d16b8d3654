import RemoteConformance
import RemoteContract
import SyncContract

struct MyHarness: RemoteHarness {
    let name = "MyRemote"

    // A back end of its own for each rule: a server in this process, a database in a container, a fake.
    func makeWorld(_ table: TableDefinition) async throws -> any RemoteWorld { try await MyWorld(table) }
}

// The code of the page about the kit for remotes, word for word, and an app's line of the one about writing a remote.

typealias MyWorld = NotesWorld

private func judging() async {
    await RemoteConformanceMain.run(MyHarness())
}
