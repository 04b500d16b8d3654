internal import CommandArguments
internal import Foundation

/// `sealedsync demo`: the whole story on this machine, with everything real.
struct DemoCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show the whole story: two encrypted to-do lists that work offline and sync.",
        discussion: """
            Starts a server on this machine, makes two encrypted stores in a temporary folder, works offline, syncs, \
            resolves a conflict, and searches every byte on disk for the to-dos. Exit status 0 only if all of it held.
            """
    )

    @Option(name: .customLong("protocol"), help: "3 for Datasync, 2 for Azure Mobile Apps.")
    var protocolNumber = 3

    @Flag(help: "Print one JSON object at the end instead of lines.")
    var json = false

    func validate() throws {
        guard protocolNumber == 3 || protocolNumber == 2 else {
            throw ValidationError("--protocol is 3 (Datasync) or 2 (Azure Mobile Apps).")
        }
    }

    func perform() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("sealedsync-demo-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        let story = DemoStory(folder: folder, protocolNumber: protocolNumber, printsLines: !json)
        let result: DemoResult
        do {
            result = try await story.tell()
        } catch {
            Self.remove(folder)
            throw error
        }
        Self.remove(folder)
        if json { try Console.write(json: result) }
        if !result.ok { throw ExitCode.failure }
    }

    private static func remove(_ folder: URL) {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            Console.writeError(
                "sealedsync: the temporary folder \(folder.path) could not be removed; remove it by hand"
            )
        }
    }
}

/// What the demonstration showed.
struct DemoResult: Encodable {
    struct Step: Encodable {
        var name: String
        var ok: Bool
        var detail: String
    }

    struct Row: Encodable, Hashable {
        var id: String
        var text: String
        var complete: Bool
        var phone: Bool
        var laptop: Bool
        var server: Bool
    }

    var ok: Bool
    var seconds: Double
    var steps: [Step]
    var rows: [Row]
}
