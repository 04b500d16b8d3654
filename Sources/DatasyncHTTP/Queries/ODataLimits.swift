internal import RemoteContract
internal import SyncContract

/// What servers of protocol 3 take of a query. They refuse more with a 400; saying so before anything is sent says what
/// to do about it.
enum ODataLimits {
    static func check(
        filter: String,
        of table: TableDefinition,
        maximumNodes: Int
    ) throws(RemoteError) {
        let count = nodeCount(filter)
        guard count <= maximumNodes else {
            throw .invalidRequest(
                "A filter of table '\(table.name)' comes to \(count) nodes, with those a pull adds, and \(maximumNodes)"
                    + " are the most; write isAny(of:) for many values, pull in several queries with ids of their own,"
                    + " or raise maximumFilterNodes where the server allows more."
            )
        }
    }

    static func check(order: [QueryOrder], of table: TableDefinition) throws(RemoteError) {
        // One that is named twice is sent once.
        let count = Set(order.map { $0.column.lowercased() }).count
        guard count <= 5 else {
            throw .invalidRequest(
                "A query of table '\(table.name)' orders by \(count) columns, and 5 are the most; order by fewer."
            )
        }
    }

    /// How many nodes ASP.NET makes of a printed filter: one for each operator, function and literal, two for a column
    /// (and one more for the conversion that comparing an id takes), four for a date, a day or a time of day, one for a list
    /// with all it holds.
    static func nodeCount(_ filter: String) -> Int {
        var count = 0
        var rest = filter.utf8[...]
        var isList = false
        while let first = rest.first {
            switch first {
            case UInt8(ascii: "'"):
                rest = rest.behindText
                count += 1
            case UInt8(ascii: "(") where isList:
                rest = rest.behindList
                isList = false
                count += 1
            case _ where first.isWordByte:
                let word = rest.prefix { $0.isWordByte }
                rest = rest.dropFirst(word.count)
                isList = word.elementsEqual("in".utf8)
                count += nodeCount(word: String(word) ?? "", next: rest.first)
            default: rest = rest.dropFirst()
            }
        }
        return count
    }

    private static func nodeCount(word: String, next: UInt8?) -> Int {
        switch word {
        case "cast": 3
        case "Edm.DateTimeOffset", "Edm.Date", "Edm.TimeOfDay": 0
        // The list is what counts, and it comes to one together with the word.
        case "in": 0
        case "and", "or", "eq", "ne", "gt", "ge", "lt", "le", "add", "sub", "mul", "div", "mod", "not": 1
        case "true", "false", "null": 1
        case "id": 3
        case _ where next == UInt8(ascii: "("): 1
        // Numbers and dates; otherwise it is a column.
        case _ where word.utf8.first.map { $0 < 65 } ?? true: 1
        default: 2
        }
    }
}

extension UInt8 {
    /// Letters, digits, and what stands within numbers, dates and names.
    fileprivate var isWordByte: Bool {
        switch self {
        case 48...57, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: ":"):
            true
        default: false
        }
    }
}

extension Substring.UTF8View {
    /// What follows a text in quotes; a quote within is doubled, which looks like another text.
    fileprivate var behindText: Self {
        var rest = dropFirst()
        while let first = rest.first {
            rest = rest.dropFirst()
            guard first == UInt8(ascii: "'") else { continue }
            guard rest.first == UInt8(ascii: "'") else { break }
            rest = rest.dropFirst()
        }
        return rest
    }

    /// What follows a list. Texts in it hold no parenthesis.
    fileprivate var behindList: Self { drop { $0 != UInt8(ascii: ")") }.dropFirst() }
}
