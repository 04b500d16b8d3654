internal import CommandArguments
internal import Foundation
internal import SealedSync

/// `todo init`: makes a store.
struct TodoInit: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make an encrypted store for a to-do list.",
        discussion: """
            A passphrase opens the store when one is given, in a file or in the variable \(StoreOptions.passphraseVariable); \
            the last line but one says so. Otherwise a secret file of mode 0600 does. In the same folder that keeps the \
            data from whoever gets the database alone, and from nobody who gets the whole folder: use a passphrase, or \
            --secret-file in another place, when the folder may be lost.
            """
    )

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    @Option(help: ArgumentHelp("The server's address.", valueName: "url"))
    var server: String

    @Option(name: .customLong("protocol"), help: "3 for Datasync, 2 for Azure Mobile Apps.")
    var protocolNumber = 3

    @Option(help: ArgumentHelp("The server's table.", valueName: "name"))
    var table = "TodoItem"

    @Flag(help: "Allow plain HTTP to another machine. Everyone on the way can read and change what is sent.")
    var allowInsecureHTTP = false

    func validate() throws {
        guard DatasyncDialect(rawValue: protocolNumber) != nil else {
            throw ValidationError("--protocol is 3 (Datasync) or 2 (Azure Mobile Apps).")
        }
    }

    func perform() async throws {
        let settings = TodoSettings(
            server: server,
            protocolNumber: protocolNumber,
            table: table,
            allowsInsecureHTTP: allowInsecureHTTP
        )
        // An address that is not acceptable is refused before anything is made.
        _ = try settings.remote(server: nil)
        let schema = try settings.schema
        let unlocker = try await options.newUnlocker()

        let opened = try await options.folder.create(schema, unlocker: unlocker.unlocker)
        do {
            try await opened.upsert([settings.record], table: TodoSettings.table.name)
        } catch {
            await opened.close()
            throw error
        }
        await opened.close()

        if json { return try Console.write(json: Answer(store: options.store, unlocker: unlocker.name)) }
        Console.write("made an encrypted store in \(options.store)")
        unlocker.announce()
        Console.write("next: sealedsync todo add \"Buy milk\" \(options.repeated)")
    }

    private struct Answer: Encodable {
        var store: String
        var unlocker: String
    }
}
