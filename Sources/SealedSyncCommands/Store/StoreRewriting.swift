internal import CommandArguments
internal import SealedSync

/// What an action that writes a store anew answers.
private struct RewriteAnswer: Encodable {
    var rewritten: Bool
    var bytesBefore: Int64
    var bytesAfter: Int64
    var formatBefore: Int
    var formatAfter: Int

    init(_ result: StoreRewriteResult) {
        rewritten = result.isRewritten
        bytesBefore = result.sizeBefore
        bytesAfter = result.sizeAfter
        formatBefore = result.formatBefore.number
        formatAfter = result.formatAfter.number
    }
}

/// `store compact`
struct StoreCompact: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Give the space of deleted rows back to the disk.",
        discussion: "Writes the database anew beside the old one and puts it in its place: there must be room for both."
    )

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws {
        let keyring = try await options.unlock()
        let result = try await Interruption.cancelling { bar in
            try await options.folder.file.compact(key: keyring.dataKey) { bar.show($0) }
        }
        if json { return try Console.write(json: RewriteAnswer(result)) }
        Console.write("\(byteText(result.sizeBefore)) before, \(byteText(result.sizeAfter)) now")
    }
}

/// `store upgrade`
struct StoreUpgrade: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Move a store to the newest format of the linked SQLCipher.",
        discussion: """
            Programs with an older SQLCipher can no longer open the store then. Writes the database anew beside the old \
            one and puts it in its place: there must be room for both. Backups keep the format they have.
            """
    )

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws {
        let keyring = try await options.unlock()
        let result = try await Interruption.cancelling { bar in
            try await options.folder.file.upgrade(key: keyring.dataKey) { bar.show($0) }
        }
        if json { return try Console.write(json: RewriteAnswer(result)) }
        Console.write(
            result.isRewritten
                ? "format \(result.formatBefore) before, \(result.formatAfter) now"
                : "the store has the newest format already: \(result.formatAfter)"
        )
    }
}
