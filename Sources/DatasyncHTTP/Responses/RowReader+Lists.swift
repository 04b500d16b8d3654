internal import HTTPTransport
internal import RecordJSON
internal import RemoteContract
internal import SyncContract

extension RowReader {
    /// A list of rows as an answer holds it.
    struct List {
        var rows: [DecodedRow]
        /// How many rows there are in all, if the list says so.
        var count: Int?
        /// Whether more follows, if the list says so.
        var continues: Bool?
        /// The `$skip` of the link to what follows, if it has one.
        var nextOffset: Int?
    }

    /// What an answer has in the place of a list. Of two members with one name the last counts.
    private struct Body {
        /// Whether there is a member `items`, whatever it is.
        var hasItems = false
        var items: [DecodedRow]?
        var results: [DecodedRow]?
        var bareRows: [DecodedRow]?
        var count: JSONNode?
        var nextLink: JSONNode?
    }

    /// The list that an answer holds, read in one pass.
    func list(in response: ServerResponse) throws(RemoteError) -> List {
        var decoder = decoder
        let body = try response.read { (reader) throws(JSONError) in try Self.body(&reader, &decoder) }
        if let rows = body.bareRows { return List(rows: rows) }
        guard let rows = body.items ?? body.results else {
            throw response.invalid("has neither 'items' nor 'results'; is this the address of a table?")
        }
        var list = List(rows: rows)
        switch body.count {
        case nil, .null: break
        case .some(let node):
            guard let number = node.int64Value.flatMap(Int.init(exactly:)), number >= 0 else {
                throw response.invalid("has a 'count' that is not a count")
            }
            list.count = number
        }
        guard body.hasItems else { return list }
        switch body.nextLink {
        case nil, .null: list.continues = false
        case .string(let link):
            list.continues = !link.isEmpty
            list.nextOffset = Self.offset(in: link)
        default: throw response.invalid("has a 'nextLink' that is not text")
        }
        return list
    }

    /// The `$skip` of a link, which is a whole address or its query alone. Servers keep the spelling of names.
    private static func offset(in link: String) -> Int? {
        for parameter in link.split(whereSeparator: { $0 == "?" || $0 == "&" }) {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, ["$skip", "%24skip"].contains(parts[0].lowercased()) else { continue }
            return Int(parts[1])
        }
        return nil
    }

    private static func body(
        _ reader: inout JSONReader,
        _ decoder: inout RecordDecoder
    ) throws(JSONError) -> Body {
        var body = Body()
        guard try reader.kind() == .object else {
            body.bareRows = try rows(&reader, &decoder)
            return body
        }
        guard try reader.beginObject() else { return body }
        repeat {
            switch reader.string(try reader.name().name) {
            case "items":
                body.hasItems = true
                body.items = try rows(&reader, &decoder)
            case "results": body.results = try rows(&reader, &decoder)
            case "count": body.count = try JSONNode(reading: &reader)
            case "nextLink": body.nextLink = try JSONNode(reading: &reader)
            default: try reader.skip()
            }
        } while try reader.continuesObject()
        return body
    }

    /// Reads the rows of an array; nil for any other value.
    private static func rows(
        _ reader: inout JSONReader,
        _ decoder: inout RecordDecoder
    ) throws(JSONError) -> [DecodedRow]? {
        guard try reader.kind() == .array else {
            try reader.skip()
            return nil
        }
        var rows: [DecodedRow] = []
        guard try reader.beginArray() else { return rows }
        repeat { rows.append(try decoder.row(from: &reader)) } while try reader.continuesArray()
        return rows
    }
}
