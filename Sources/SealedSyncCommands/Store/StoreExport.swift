internal import CommandArguments
internal import Foundation
internal import SealedSync

/// `store export`
struct StoreExport: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write everything in a store to a plain SQLite file that anybody can read.",
        discussion: """
            For moving to another program, or for a look with the sqlite3 shell. Whoever gets the file has all the \
            data, without any secret, and deleting it later does not take it off the disk for certain; hence the long \
            flag. Attachments stay encrypted where they are, and their keys are left out. 'store encrypt' makes an \
            equal store of the file again, which fetches its attachments from the server.
            """
    )

    @Argument(help: "The file to make; it must not exist.")
    var target: String

    @Flag(name: .customLong("plaintext-i-understand"), help: "Yes, write it so that anybody can read it.")
    var plaintextIsUnderstood = false

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func validate() throws {
        guard !target.isEmpty else { throw ValidationError("Name the file that the export goes into.") }
        guard plaintextIsUnderstood else {
            throw ValidationError(
                """
                The exported file is not encrypted: whoever gets it reads everything, and deleting it later does not \
                take it off the disk for certain. If that is wanted, give --plaintext-i-understand. For a copy that \
                stays encrypted use 'sealedsync store backup'.
                """
            )
        }
    }

    func perform() async throws {
        let (file, target) = (options.folder.file, URL(fileURLWithPath: target))
        let keyring = try await options.unlock()
        try await Interruption.cancelling { bar in
            try await file.exportPlaintext(to: target, key: keyring.dataKey) { bar.show($0) }
        }
        let size = try FileManager.default.attributesOfItem(atPath: target.path)[.size] as? Int64 ?? 0
        if json { return try Console.write(json: Answer(file: self.target, bytes: size)) }
        Console.write("wrote \(byteText(size)) that anybody can read to")
        Console.write(self.target)
    }

    private struct Answer: Encodable {
        var file: String
        var bytes: Int64
    }
}
