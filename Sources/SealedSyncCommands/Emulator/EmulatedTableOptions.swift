internal import CommandArguments
internal import DatasyncEmulator
internal import Foundation

/// Which tables an emulator serves.
struct EmulatedTableOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A table to serve; may be repeated. Alone, its name: it keeps what it is given. With columns, such as \
            'TodoItem(text: text?, done: boolean, size: integer = 1)', it has these and no others; kinds: text, boolean, \
            integer, number, decimal, date, day, time, bytes, uuid, json, with '?' where it may be null. \
            (default: TodoItem)
            """,
            valueName: "table"
        )
    )
    var table: [String] = []

    @Option(
        help: ArgumentHelp(
            "A JSON file of tables, such as {\"TodoItem\": {\"text\": \"text?\", \"size\": \"integer = 1\"}}.",
            valueName: "file"
        )
    )
    var tables: String?

    @Flag(help: "Remove deleted rows instead of marking them.")
    var hardDelete = false

    func validate() throws {
        guard tables != "" else { throw ValidationError("--tables needs the name of a file.") }
        if let name = Self.repeatedName(of: try named) {
            throw ValidationError("--table: Two tables are named '\(name)'; the case of letters does not count.")
        }
    }

    private static func repeatedName(of tables: [EmulatedTableDefinition]) -> String? {
        var names: Set<String> = []
        return tables.map(\.name).first { !names.insert($0.lowercased()).inserted }
    }

    /// The tables that the line itself names.
    private var named: [EmulatedTableDefinition] {
        get throws {
            try table.map { text in
                do {
                    return try TableDeclaration.table(text, softDelete: !hardDelete)
                } catch let error as EmulatorError {
                    throw ValidationError("--table: \(error.message)")
                }
            }
        }
    }

    /// The tables of the file and those named beside it.
    var definitions: [EmulatedTableDefinition] {
        get throws {
            let filed = try tables.map { path in
                do {
                    let json = try Data(contentsOf: URL(filePath: path))
                    return try TableDeclaration.tables(json: json, softDelete: !hardDelete)
                } catch let error as EmulatorError {
                    throw ToolError("usage", "\(path): \(error.message)")
                } catch {
                    throw ToolError("usage", "\(path) cannot be read; --tables names a JSON file of tables.")
                }
            }
            let all = try (filed ?? []) + named
            if let name = Self.repeatedName(of: all) {
                throw ToolError("usage", "Two tables are named '\(name)'; the case of letters does not count.")
            }
            return all.isEmpty ? [EmulatedTableDefinition("TodoItem", softDelete: !hardDelete)] : all
        }
    }
}
