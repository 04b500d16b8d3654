import Foundation

/// The body of a POST or PUT, read as a table's entity and checked.
struct Protocol3Item {
    enum Refusal: Error {
        /// The body is not announced as JSON.
        case unsupportedMediaType
        /// The body is the literal `null`.
        case null
        /// The body is no JSON or does not fit the table, with what is wrong, for people.
        case unreadable(String)
    }

    private(set) var id: String?
    private(set) var deleted = false
    /// Everything but the system members, as the table keeps it.
    let values: [String: JSONValue]
    /// The names of the values in the order in which they were sent.
    let names: [String]

    init(_ request: EmulatorRequest, for table: EmulatedTableDefinition, without dropped: String? = nil) throws(Refusal)
    {
        guard Self.isJSON(request.mediaType) else { throw .unsupportedMediaType }
        let members: [JSONParser.Member]?
        let value: JSONValue
        do {
            (members, value) = try JSONParser.members(of: request.body, .dotNet)
        } catch {
            throw .unreadable(error.message)
        }
        guard value != .null else { throw .null }
        guard let members else { throw .unreadable("The body must be a JSON object.") }
        var others: [(name: String, value: JSONValue)] = []
        var id: String?
        var deleted = false
        for member in members {
            switch (member.name.lowercased(), member.value) {
            case ("id", .string(let text)): id = text
            case ("id", .null): id = nil
            case ("deleted", .bool(let mark)): deleted = mark
            // The client's own stamp and version are overwritten, but they must be such.
            case ("updatedat", .null), ("version", .null): continue
            case ("updatedat", .string(let text)) where DotNetDate.ticks(text) != nil: continue
            case ("version", .string(let text)) where Data(base64Encoded: text) != nil: continue
            case ("id", _), ("deleted", _), ("updatedat", _), ("version", _):
                throw .unreadable("The member '\(member.name)' has the wrong form.")
            case (let name, _) where name == dropped: continue
            default: others.append((member.name, member.value))
            }
        }
        (self.id, self.deleted) = (id, deleted)
        names = table.columns.isEmpty ? others.map(\.name) : []
        do {
            values = try table.stored(others)
        } catch {
            throw .unreadable(error.message)
        }
    }

    private static func isJSON(_ mediaType: String?) -> Bool {
        guard let subtype = mediaType?.split(separator: "/", omittingEmptySubsequences: false), subtype.count == 2,
            subtype[0] == "application"
        else { return false }
        return subtype[1] == "json" || subtype[1].hasSuffix("+json")
    }

    /// Whether one of the values is a number out of range, which a genuine server stores and cannot read again. The
    /// predecessor can.
    var holdsInfinity: Bool {
        values.values.contains { value in
            if case .double(let number) = value { !number.isFinite } else { false }
        }
    }
}
