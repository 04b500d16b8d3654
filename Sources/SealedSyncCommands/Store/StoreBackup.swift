internal import CommandArguments
internal import Foundation
internal import SealedSync

/// `store backup`
struct StoreBackup: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a store with its keyslot file into a new folder.",
        discussion: """
            The copy is opened with the same passphrase or secret file. A secret file is not copied: beside the backup \
            it would protect nothing. Keep a copy of it in another place, without which the backup opens for nobody.
            """
    )

    @Argument(help: "The folder to make. One that exists must be empty.")
    var target: String

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func validate() throws {
        guard !target.isEmpty else { throw ValidationError("Name the folder that the backup goes into.") }
    }

    func perform() async throws {
        let (folder, target) = (options.folder, URL(fileURLWithPath: target, isDirectory: true))
        let keyring = try await options.unlock()
        let bytes = try await Interruption.cancelling { bar in
            let store = try await folder.openWithStoredSchema(keyring)
            // The copy appears as a whole, in place of a folder that is there only if that is empty.
            let replacesEmptyFolder = unsafe rmdir(target.path) == 0
            do {
                try await folder.backUp(store, to: target) { bar.show($0) }
            } catch {
                await store.close()
                if replacesEmptyFolder { _ = unsafe mkdir(target.path, 0o700) }
                throw error
            }
            await store.close()
            return try await StoreFolder(target).file.inspect().databaseSize
        }
        if json { return try Console.write(json: Answer(folder: self.target, bytes: bytes)) }
        Console.write("copied \(byteText(bytes)) to")
        Console.write(self.target)
        if keyring.slots.contains(where: { $0.kind == .secretFile }) {
            Console.write(sentence: "the secret file was not copied: keep a copy of it in another place")
        }
        let secret =
            options.passphraseFile.map { " --passphrase-file '\($0)'" }
            ?? (keyring.slots.contains { $0.kind == .passphrase }
                ? "" : " --secret-file '\(options.secretFileURL.path)'")
        Console.write("next: sealedsync store verify --store '\(self.target)'\(secret)")
    }

    private struct Answer: Encodable {
        var folder: String
        var bytes: Int64
    }
}
