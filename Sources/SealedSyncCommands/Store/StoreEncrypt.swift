internal import CommandArguments
internal import Foundation
internal import SealedSync

/// `store encrypt`
struct StoreEncrypt: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt",
        abstract: "Make a new store of a plain SQLite file.",
        discussion: """
            Each table needs a column 'id' as its primary key. What cannot be taken over exactly is refused, and says \
            why. The store is opened by a passphrase when one is given, in a file or in the variable \
            \(StoreOptions.passphraseVariable), and otherwise by a secret file, as 'sealedsync todo init' does it. The \
            plain file stays, readable: delete it when the store has been opened.
            """
    )

    @Argument(help: "The plain SQLite file. No program may be using it.")
    var plaintext: String

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func validate() throws {
        guard !plaintext.isEmpty else { throw ValidationError("Name the file to encrypt.") }
    }

    func perform() async throws {
        let (folder, file) = (options.folder, URL(fileURLWithPath: plaintext))
        let unlocker = try await options.newUnlocker()
        let secret = SecretFileUnlocker(at: options.secretFileURL)
        let secretIsNew = !FileManager.default.fileExists(atPath: secret.url.path)
        let folderIsNew = !FileManager.default.fileExists(atPath: folder.url.path)
        let result: StoreEncryptionResult
        do {
            result = try await Interruption.cancelling { bar in
                try await folder.encrypt(file, unlocker: unlocker.unlocker) { bar.show($0) }
            }
        } catch {
            // A secret that opens nothing is of no use to anybody; nor is a folder with nothing in it.
            if secretIsNew, try !folder.hasKeyslots { try await secret.destroySecret() }
            if folderIsNew { _ = unsafe rmdir(folder.url.path) }
            throw error
        }
        let tables = result.tables.map { Answer.Table(name: $0.name, rows: result.rowCounts[$0.name] ?? 0) }
        let answer = Answer(
            store: options.store,
            unlocker: unlocker.name,
            tables: tables,
            droppedIndexes: result.droppedIndexes
        )
        if json { return try Console.write(json: answer) }
        let rows = tables.reduce(0) { $0 + $1.rows }
        Console.write("made an encrypted store of \(countText(rows, "row")) in \(countText(tables.count, "table"))")
        unlocker.announce()
        for name in result.droppedIndexes {
            Console.write("the index \(TextTable.printable(name, atMost: 40)) was not taken over")
        }
        Console.write("next: open the store, then delete the plain file: it is still readable")
    }

    private struct Answer: Encodable {
        struct Table: Encodable {
            var name: String
            var rows: Int
        }

        var store: String
        var unlocker: String
        var tables: [Table]
        var droppedIndexes: [String]
    }
}
