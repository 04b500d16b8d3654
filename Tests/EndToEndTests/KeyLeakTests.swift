import Foundation
import SealedSync
import SeededNumbers
import Testing

@Suite("After a passphrase has leaked and the keyslot file was copied, one process per call")
struct KeyLeakTests {
    private let folder: TemporaryFolder
    private let store: StoreFolder

    /// A to-do list that a secret file opens, and a passphrase, which will have leaked.
    init() async throws {
        folder = try TemporaryFolder()
        store = StoreFolder(folder.file("d"))
        for name in ["leaked", "new"] { try folder.write("\(name) passphrase\n", to: name) }
        try await run("todo", "init", "--server", "http://127.0.0.1:9")
        try await run("keys", "add-passphrase", "--new-passphrase-file", path("leaked"), "--label", "Ada's")
        try await run("todo", "add", "before")
    }

    private func path(_ name: String) -> String { folder.file(name).path }

    @discardableResult
    private func run(_ arguments: String...) async throws -> ToolProcess.Result {
        let secret = arguments.contains("--passphrase-file") ? [] : ["--secret-file", store.url.path + "/store.secret"]
        let result = try await ToolProcess.run(arguments + ["--store", store.url.path] + secret)
        try #require(result.status == 0, "\(arguments): \(result.errors)")
        return result
    }

    /// Sentences are broken to fit 80 columns.
    private func says(_ result: ToolProcess.Result, _ words: String) -> Bool {
        result.output.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(words)
    }

    private func makeThief() async throws -> KeyThief {
        try await KeyThief(in: store, with: PassphraseUnlocker(file: folder.file("leaked")))
    }

    private func expectOut(_ thief: inout KeyThief) async throws {
        try await run("todo", "add", "after")
        #expect(try await !thief.opensDatabase())
        #expect(try await thief.readTodos().isEmpty)
        #expect(try await run("todo", "list").output.contains("after"))
    }

    @Test("change-passphrase and a rotation of the data key leave the thief in, and say so; a rotation shuts him out")
    func rotation() async throws {
        var thief = try await makeThief()
        let changed = try await run(
            "keys",
            "change-passphrase",
            "--passphrase-file",
            path("leaked"),
            "--new-passphrase-file",
            path("new")
        )
        #expect(changed.output.contains("'keys revoke'") && says(changed, "not shut out"))
        let rotated = try await run("keys", "rotate", "--data-key-only")
        #expect(says(rotated, "not shut out"))
        try await run("todo", "add", "between")
        #expect(try await thief.opensDatabase(), "with the root key of the copy")
        #expect(try await thief.readTodos().sorted() == ["before", "between"])

        try await run("keys", "rotate", "--keep-passphrase-file", path("new"))
        try await expectOut(&thief)
        let opened = try await run("todo", "list", "--passphrase-file", path("new"))
        #expect(opened.output.contains("after"))
    }

    @Test("a revocation shuts the thief out in one call, and the new passphrase opens")
    func revocation() async throws {
        var thief = try await makeThief()
        #expect(try await thief.opensDatabase())
        try await run("keys", "revoke", "2", "--new-passphrase-file", path("new"), "--yes")
        try await expectOut(&thief)
        let opened = try await run("todo", "list", "--passphrase-file", path("new"))
        #expect(opened.output.contains("after"))
    }
}
