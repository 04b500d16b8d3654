/// The body of a POST or PATCH, read and checked.
struct Protocol2Item {
    struct Refusal: Error {
        let status: Int
        let message: String
    }

    /// The body as sent.
    let members: [String: JSONValue]
    let id: String?
    let version: String?
    /// Everything but id and version.
    let columns: [String: JSONValue]

    static func read(from request: EmulatorRequest, purpose: String) -> Result<Protocol2Item, Refusal> {
        Result { () throws(Refusal) in try Protocol2Item(request, purpose: purpose) }
    }

    private init(_ request: EmulatorRequest, purpose: String) throws(Refusal) {
        let members = try Self.members(of: request, purpose: purpose)
        for name in ["createdAt", "updatedAt", "deleted"] where members[name] != nil {
            throw Refusal(status: 400, message: "Cannot update item with property '\(name)' as it is reserved")
        }
        self.members = members
        id = members["id"].map(ColumnConversion.text).flatMap { $0.isEmpty ? nil : $0 }
        version = members["version"].flatMap { $0 == .null ? nil : ColumnConversion.text($0) }
        columns = members.filter { $0.key != "id" && $0.key != "version" }
        for name in columns.keys.sorted() {
            guard Self.isIdentifier(name) else { throw Self.invalidIdentifier(name) }
        }
        for name in members.keys.sorted() {
            switch members[name] {
            case .object: throw Refusal(status: 500, message: "Unsupported type: Object")
            case .array: throw Refusal(status: 500, message: "Unsupported type: Array")
            default: continue
            }
        }
    }

    private static func members(of request: EmulatorRequest, purpose: String) throws(Refusal) -> [String: JSONValue] {
        if request.body.isEmpty { return [:] }
        guard request.mediaType == "application/json" else {
            throw Refusal(status: 500, message: "An item to \(purpose) was not provided")
        }
        let value: JSONValue
        do {
            value = try JSONParser.parse(request.body)
        } catch {
            throw Refusal(status: 400, message: error.message)
        }
        switch value {
        case .object(let members): return members
        // The server takes the array for an object whose columns are its indexes.
        case .array: throw invalidIdentifier("0")
        default: throw Refusal(status: 400, message: "Unexpected token in JSON at position 0")
        }
    }

    private static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count < 128 else { return false }
        let isLegal = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isLegal && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
    }

    private static func invalidIdentifier(_ name: String) -> Refusal {
        let rule =
            "Identifiers must be under 128 characters in length, start with a letter or underscore, "
            + "and can contain only alpha-numeric and underscore characters."
        return Refusal(status: 500, message: "\(name) is not a valid identifier. \(rule)")
    }

    /// A row's columns after this item was merged into them. Makes the columns the table does not have, except those
    /// whose first value is null; names of columns ignore case.
    func stored(over values: [String: JSONValue], in table: inout EmulatedTable) -> [String: JSONValue] {
        var values = values
        for (name, value) in columns {
            let known = table.columns.keys.first { $0.lowercased() == name.lowercased() }
            if known == nil {
                if value == .null { continue }
                table.noteColumn(name, ColumnConversion.type(of: value))
            }
            let column = known ?? name
            values[column] = ColumnConversion.convert(value, to: table.columns[column] ?? .text)
        }
        return values
    }
}
