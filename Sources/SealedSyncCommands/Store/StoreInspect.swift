internal import CommandArguments
internal import SealedSync

/// `store inspect`
struct StoreInspect: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show what is in a store, and changes nothing.",
        discussion: """
            Without what opens the store, or while an app has it open, only what is visible from outside is shown: the \
            format, the sizes, the ways to open it. Of the rows nothing is shown but their number.
            """
    )

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws {
        let folder = options.folder
        let answer = try await Interruption.cancelling {
            // The folder's own messages for a store that is not there.
            guard try folder.hasDatabase || folder.hasKeyslots else {
                throw StoreError(.notFound, "'\(options.store)' is not a store folder")
            }
            let outside = try await folder.file.inspect()
            let slots = try folder.hasKeyslots ? try await KeyslotFile.read(at: folder.keyslotsURL).slots : []
            var answer = Answer(options.store, outside, slots.map { "\($0.kind)" })
            do {
                answer.content = Answer.Content(try await folder.inspect(try await options.unlock()))
            } catch {
                answer.locked = try reason(error, outside)
            }
            return answer
        }
        if json { return try Console.write(json: answer) }
        answer.write()
    }

    /// Why the content cannot be shown; an error that is no reason to show the rest is thrown.
    private func reason(_ error: any Error, _ outside: StoreInspection) throws -> String {
        switch error {
        case let error as StoreError where error.code == .inUse: return "an app has the store open: close it there"
        case let error as KeyError where error.code == .secretUnavailable: return error.message
        case let error as ToolError where error.code == "secretUnavailable": return error.message
        default: throw error
        }
    }
}

extension StoreInspect {
    struct Answer: Encodable, Sendable {
        var store: String
        var format: Int
        var databaseBytes: Int64
        var logBytes: Int64
        var inUse: Bool
        var leftovers: [String]
        var slots: [String]
        /// Why there is no content.
        var locked: String?
        var content: Content?

        init(_ store: String, _ outside: StoreInspection, _ slots: [String]) {
            self.store = store
            self.slots = slots
            format = outside.format.number
            databaseBytes = outside.databaseSize
            logBytes = outside.walSize
            inUse = outside.isInUse
            leftovers = outside.leftovers
        }

        struct Content: Encodable, Sendable {
            var sqlcipher: String
            var sqlite: String
            var layoutVersion: Int
            var pages: Int
            var freePages: Int
            var pending: Int
            var errors: Int
            var deltaTokens: Int
            var tables: [Table]

            init(_ content: StoreContent) {
                sqlcipher = content.engineVersion.cipher
                sqlite = content.engineVersion.sqlite
                layoutVersion = content.layoutVersion
                pages = content.pages
                freePages = content.freePages
                pending = content.pendingOperations
                errors = content.operationErrors
                deltaTokens = content.deltaTokens
                tables = content.tables.map(Table.init)
            }
        }

        struct Table: Encodable, Sendable {
            var name: String
            var system: Bool
            var rows: Int
            var columns: [Column]

            init(_ table: StoreContent.Table) {
                name = table.name
                system = table.isSystemTable
                rows = table.rows
                columns = table.columns.map { Column(name: $0.name, type: $0.type.rawValue, declared: $0.isDeclared) }
            }
        }

        struct Column: Encodable, Sendable {
            var name: String
            var type: String
            var declared: Bool
        }
    }
}

extension StoreInspect.Answer {
    fileprivate func write() {
        let kind = StoreFormat.all.first { $0.number == format }.map { "\($0)" } ?? "\(format)"
        Console.write("format    \(kind)")
        Console.write("database  \(byteText(databaseBytes))")
        if logBytes > 0 {
            Console.write(
                "log       \(byteText(logBytes))\(inUse ? "" : ", left behind: the next opening takes it over")"
            )
        }
        Console.write(
            "opened by \(slots.isEmpty ? "nothing: the keyslot file is missing" : slots.joined(separator: ", "))"
        )
        if inUse { Console.write("in use    yes") }
        for name in leftovers { Console.write("left over \(TextTable.printable(name, atMost: 60))") }
        if let content { return content.write() }
        if let locked { Console.write(sentence: "locked    \(locked)", indentation: 10) }
    }
}

extension StoreInspect.Answer.Content {
    fileprivate func write() {
        Console.write("engine    SQLCipher \(sqlcipher) on SQLite \(sqlite)")
        Console.write("layout    \(layoutVersion)")
        Console.write("pages     \(pages), \(freePages) of them free")
        Console.write("waiting   \(countText(pending, "change")), \(countText(errors, "error"))")
        Console.write("pulled    \(deltaTokens == 1 ? "1 query" : "\(deltaTokens) queries")")
        var table = TextTable(["table", "rows", "columns"], flexible: 2)
        for entry in tables where !entry.system {
            let names = entry.columns.map { $0.declared ? $0.name : "(\($0.name))" }
            table.add([TextTable.printable(entry.name, atMost: 20), "\(entry.rows)", names.joined(separator: " ")])
        }
        Console.write("")
        for line in table.lines { Console.write(line) }
        if tables.contains(where: { table in table.columns.contains { !$0.declared } }) {
            Console.write("(columns in brackets are no longer declared; their values are kept)")
        }
    }
}
