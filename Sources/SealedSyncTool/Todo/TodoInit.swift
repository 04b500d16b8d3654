internal import ArgumentParser
internal import Foundation
internal import SealedSync

/// `todo init`: makes a store.
struct TodoInit: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make an encrypted store for a to-do list.",
        discussion: """
            Without a passphrase, a secret file of mode 0600 in the folder opens the store. That keeps the data from \
            whoever gets the database alone, and from nobody who gets the whole folder: use a passphrase, or move the \
            file, when the folder may be lost.
            """
    )

    @Option(help: ArgumentHelp("The folder of the store; made when missing.", valueName: "dir"))
    var store: String

    @Option(help: ArgumentHelp("The server's address.", valueName: "url"))
    var server: String

    @Option(name: .customLong("protocol"), help: "3 for Datasync, 2 for Azure Mobile Apps.")
    var protocolNumber = 3

    @Option(help: ArgumentHelp("The server's table.", valueName: "name"))
    var table = "TodoItem"

    @Option(help: ArgumentHelp("A file that holds the passphrase.", valueName: "file"))
    var passphraseFile: String?

    @Flag(help: "Allow plain HTTP to another machine. Everyone on the way can read and change what is sent.")
    var allowInsecureHTTP = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard DatasyncDialect(rawValue: protocolNumber) != nil else {
            throw ValidationError("--protocol is 3 (Datasync) or 2 (Azure Mobile Apps).")
        }
    }

    func perform() async throws {
        var options = TodoOptions()
        options.store = store
        options.passphraseFile = passphraseFile
        let settings = TodoSettings(
            server: server,
            protocolNumber: protocolNumber,
            table: table,
            allowsInsecureHTTP: allowInsecureHTTP
        )
        // An address that is not acceptable is refused before anything is made.
        _ = try settings.remote(server: nil)
        let schema = try settings.schema
        let passphrase = try await options.passphrase()
        let unlocker: any StoreUnlocker = passphrase ?? SecretFileUnlocker(at: options.secretFileURL)

        let opened = try await options.folder.create(schema, unlocker: unlocker)
        do {
            try await opened.upsert([settings.record], table: TodoSettings.table.name)
        } catch {
            await opened.close()
            throw error
        }
        await opened.close()

        if json {
            try Console.write(json: Answer(store: store, unlocker: passphrase == nil ? "secret-file" : "passphrase"))
        } else {
            Console.write("made an encrypted store in \(store)")
            if passphrase == nil {
                Console.write("it is opened by \(options.secretFileURL.lastPathComponent) in the same folder")
            }
            let secret = passphraseFile.map { " --passphrase-file '\($0)'" } ?? ""
            Console.write("next: sealedsync todo add \"Buy milk\" --store '\(store)'\(secret)")
        }
    }

    private struct Answer: Encodable {
        var store: String
        var unlocker: String
    }
}
