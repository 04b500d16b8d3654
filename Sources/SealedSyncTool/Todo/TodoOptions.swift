internal import ArgumentParser
internal import Foundation
internal import SealedSync

/// The options of every action on a to-do list.
struct TodoOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The folder of the store.", valueName: "dir"))
    var store: String

    @Option(help: ArgumentHelp("A file that holds the passphrase.", valueName: "file"))
    var passphraseFile: String?

    @Option(help: ArgumentHelp("Use this server for this call only.", valueName: "url"))
    var server: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    /// The variable a passphrase may be given in.
    static let passphraseVariable = "SEALEDSYNC_PASSPHRASE"

    var folder: StoreFolder { StoreFolder(URL(fileURLWithPath: store, isDirectory: true)) }

    /// The file in the store's folder that opens a store made without a passphrase.
    var secretFileURL: URL { folder.url.appendingPathComponent("store.secret") }

    /// The passphrase as given on this call; nil when none was.
    func passphrase() async throws -> PassphraseUnlocker? {
        if let passphraseFile {
            let url = URL(fileURLWithPath: passphraseFile)
            return PassphraseUnlocker(passphrase: try await PassphraseUnlocker.readPassphrase(from: url))
        }
        let value = ProcessInfo.processInfo.environment[Self.passphraseVariable] ?? ""
        return value.isEmpty ? nil : PassphraseUnlocker(environmentVariable: Self.passphraseVariable)
    }

    /// What opens the store in the folder.
    func unlocker() async throws -> any StoreUnlocker {
        if let passphrase = try await passphrase() { return passphrase }
        if FileManager.default.fileExists(atPath: folder.keyslotsURL.path),
            try await KeyslotFile.read(at: folder.keyslotsURL).slots.contains(where: { $0.kind == .passphrase })
        {
            throw ToolError(
                "secretUnavailable",
                "this store was made with a passphrase; give --passphrase-file FILE or set \(Self.passphraseVariable)"
            )
        }
        return SecretFileUnlocker(at: secretFileURL)
    }
}
