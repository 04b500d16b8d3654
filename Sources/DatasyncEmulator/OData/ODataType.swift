/// The types between which protocol 3 tells operands apart.
enum ODataType: Sendable {
    /// A column of a table that declares none: whatever its values are.
    case any
    case null
    case boolean
    case integer
    case double
    case decimal
    case text
    case instant
    case day
    case time
    case identifier
    case bytes
    case structured

    init(_ kind: EmulatedTableDefinition.ColumnType.Kind) {
        self =
            switch kind {
            case .text: .text
            case .boolean: .boolean
            case .integer: .integer
            case .number: .double
            case .decimal: .decimal
            case .date: .instant
            case .day: .day
            case .time: .time
            case .bytes: .bytes
            case .uuid: .identifier
            case .json: .structured
            }
    }

    init(_ literal: ODataValue) {
        self =
            switch literal {
            case .null: .null
            case .bool: .boolean
            case .integer: .integer
            case .double: .double
            case .decimal: .decimal
            case .string: .text
            case .instant: .instant
            case .day: .day
            case .time: .time
            case .guid: .identifier
            case .structured: .structured
            }
    }

    /// The types of OData's that stand in messages.
    var name: String {
        switch self {
        case .any, .structured: "Edm.Untyped"
        case .null: "<null>"
        case .boolean: "Edm.Boolean"
        case .integer: "Edm.Int64"
        case .double: "Edm.Double"
        case .decimal: "Edm.Decimal"
        case .text: "Edm.String"
        case .instant: "Edm.DateTimeOffset"
        case .day: "Edm.Date"
        case .time: "Edm.TimeOfDay"
        case .identifier: "Edm.Guid"
        case .bytes: "Edm.Binary"
        }
    }

    var isNumber: Bool { self == .integer || self == .double || self == .decimal }

    /// Whether the type is this one, or cannot be told.
    func fits(_ other: ODataType) -> Bool { self == other || self == .any || self == .null }

    /// Whether two operands of these types can stand on either side of a comparison.
    func compares(with other: ODataType) -> Bool {
        switch (self, other) {
        case (.any, _), (_, .any), (.null, _), (_, .null): true
        case (.double, .decimal), (.decimal, .double): false
        case (.instant, .day), (.day, .instant): true
        case (.structured, _), (_, .structured): false
        default: self == other || isNumber && other.isNumber
        }
    }
}
