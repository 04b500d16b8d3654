package import Foundation

/// Reads what people write about tables: one in a line, or several in a JSON file.
package enum TableDeclaration {
    /// Reads a table such as `TodoItem(text: text?, complete: boolean, priority: integer = 3)`, or its name alone.
    ///
    /// A column is its name, its kind, a question mark where it may be null, and a default as JSON after an equals sign.
    ///
    /// - Throws: `EmulatorError` with code `invalidDefinition`, whose message says what is wrong.
    package static func table(_ text: String, softDelete: Bool = true) throws -> EmulatedTableDefinition {
        let parts = text.split(separator: "(", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts[0].trimmingCharacters(in: .whitespaces)
        guard isName(name) else { throw invalid("'\(text)' does not begin with the name of a table.") }
        guard parts.count == 2 else { return EmulatedTableDefinition(name, softDelete: softDelete) }
        let list = parts[1].trimmingCharacters(in: .whitespaces)
        guard list.hasSuffix(")") else { throw invalid("The columns of '\(name)' have no closing parenthesis.") }
        var columns: EmulatedTableDefinition.Columns = [:]
        for column in pieces(of: list.dropLast()) {
            let sides = column.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard sides.count == 2 else { throw invalid("'\(column)' is not of the form 'name: kind'.") }
            try add(sides[0], to: &columns, of: name) { try type(sides[1]) }
        }
        return EmulatedTableDefinition(name, columns: columns, softDelete: softDelete)
    }

    /// Reads a JSON object of tables, each an object of columns, each a text such as `"integer?"` or `"integer = 3"`, or
    /// an object such as `{"kind": "integer", "nullable": false, "default": 3}`.
    ///
    /// Comments and commas at the end are read over; columns keep their order.
    ///
    /// - Throws: `EmulatorError` with code `invalidJSON` or `invalidDefinition`, whose message says what is wrong.
    package static func tables(json: Data, softDelete: Bool = true) throws -> [EmulatedTableDefinition] {
        try members(of: json, "The file")
            .map { table in
                guard isName(table.name) else { throw invalid("'\(table.name)' is not the name of a table.") }
                var columns: EmulatedTableDefinition.Columns = [:]
                for column in try members(of: table.bytes, "The table '\(table.name)'") {
                    try add(column.name, to: &columns, of: table.name) { try type(column.value) }
                }
                return EmulatedTableDefinition(table.name, columns: columns, softDelete: softDelete)
            }
    }

    private static func members(of data: some Sequence<UInt8>, _ subject: String) throws -> [JSONParser.Member] {
        let members: [JSONParser.Member]?
        do {
            members = try JSONParser.members(of: data, JSONParser.Grammar(isLenient: true)).members
        } catch {
            throw EmulatorError(.invalidJSON, error.message)
        }
        guard let members else {
            throw invalid(
                "\(subject) must be an object; a file of tables is such as {\"TodoItem\": {\"text\": \"text?\"}}."
            )
        }
        return members
    }

    private static func add(
        _ column: String,
        to columns: inout EmulatedTableDefinition.Columns,
        of table: String,
        type: () throws -> EmulatedTableDefinition.ColumnType
    ) throws {
        let system = ["id", "createdat", "updatedat", "version", "deleted"]
        guard isName(column), !system.contains(column.lowercased()) else {
            throw invalid("'\(column)' cannot be a column of '\(table)': it is no name, or one of the system's.")
        }
        guard columns[column] == nil else { throw invalid("The table '\(table)' has the column '\(column)' twice.") }
        do {
            columns[column] = try type()
        } catch let error as EmulatorError {
            throw EmulatorError(error.code, "The column '\(column)' of '\(table)': \(error.message)")
        }
    }

    // MARK: Types

    /// A kind with a question mark or a default.
    private static func type(_ text: String) throws -> EmulatedTableDefinition.ColumnType {
        let sides = text.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        guard let name = sides.first else { throw invalid("it has no kind.") }
        let isNullable = name.hasSuffix("?")
        let type = try type(kind: isNullable ? String(name.dropLast()) : name, isNullable: isNullable)
        guard sides.count == 2 else { return type }
        guard let value = readDefault(sides[1]) else {
            throw invalid("its default '\(sides[1])' is no JSON; a text stands in double quotes.")
        }
        return try type.defaulting(to: value)
    }

    private static func readDefault(_ text: String) -> JSONValue? {
        do {
            return try JSONValue(parsing: Data(text.utf8))
        } catch {
            return nil
        }
    }

    private static func type(_ value: JSONValue) throws -> EmulatedTableDefinition.ColumnType {
        if let text = value.string { return try type(text) }
        guard let members = value.object, let kind = members["kind"]?.string else {
            throw invalid("it is neither a text such as \"integer?\" nor an object with a \"kind\".")
        }
        if let unknown = members.keys.sorted().first(where: { !["kind", "nullable", "default"].contains($0) }) {
            throw invalid("its member '\(unknown)' means nothing here; there are kind, nullable and default.")
        }
        let nullable = members["nullable"] ?? false
        guard let isNullable = nullable.bool else { throw invalid("its member 'nullable' is true or false.") }
        let type = try type(isNullable ? kind + "?" : kind)
        return try members["default"].map { try type.defaulting(to: $0) } ?? type
    }

    private static func type(kind: String, isNullable: Bool) throws -> EmulatedTableDefinition.ColumnType {
        guard let kind = EmulatedTableDefinition.ColumnType.Kind(rawValue: kind) else {
            let kinds = EmulatedTableDefinition.ColumnType.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw invalid("'\(kind)' is no kind of column; there are \(kinds).")
        }
        let type = EmulatedTableDefinition.ColumnType(kind)
        return isNullable ? type.optional : type
    }

    // MARK: Texts

    /// The pieces between commas that are not within quotes or brackets.
    private static func pieces(of list: Substring) -> [String] {
        var pieces = [""]
        var depth = 0
        var isQuoted = false
        for character in list {
            switch character {
            case "\"": isQuoted.toggle()
            case "[", "{": depth += isQuoted ? 0 : 1
            case "]", "}": depth -= isQuoted ? 0 : 1
            default: break
            }
            if character == ",", depth == 0, !isQuoted {
                pieces.append("")
            } else {
                pieces[pieces.count - 1].append(character)
            }
        }
        let trimmed = pieces.map { $0.trimmingCharacters(in: .whitespaces) }
        return trimmed == [""] ? [] : trimmed
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, first == "_" || first.properties.isAlphabetic else { return false }
        return text.unicodeScalars.allSatisfy {
            $0 == "_" || $0.properties.isAlphabetic || $0.properties.numericType != nil
        }
    }

    private static func invalid(_ message: String) -> EmulatorError {
        EmulatorError(.invalidDefinition, message)
    }
}
