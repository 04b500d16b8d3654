/// The columns a server keeps for every row.
///
/// To a store they are columns like any other: it sets none by itself, and a row marked as deleted is a row.
///
/// The bits are those of the original SDKs, so that a store written against them can pass its own value on.
public struct SystemProperties: OptionSet, Sendable, Hashable {
    /// The bits: 1 created at, 2 updated at, 4 version, 8 deleted.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `createdAt`, a date. In protocol 2 the server sets it. Protocol 3 has no such property: there it is a column of the
    /// service, if it has one, which the app does not write here and which goes back with the row.
    public static let createdAt = SystemProperties(rawValue: 1)
    /// `updatedAt`, a date: what incremental pulls go by.
    public static let updatedAt = SystemProperties(rawValue: 2)
    /// `version`, an opaque string: what conflicts are detected by.
    public static let version = SystemProperties(rawValue: 4)
    /// `deleted`, a truth value: whether the row is a tombstone.
    public static let deleted = SystemProperties(rawValue: 8)

    /// The four names, whether or not a table keeps them.
    public static let names: Set<String> = ["createdAt", "updatedAt", "version", "deleted"]

    /// The columns in this set.
    public var columns: [ColumnDefinition] {
        var columns: [ColumnDefinition] = []
        if contains(.createdAt) { columns.append(.init("createdAt", .date)) }
        if contains(.updatedAt) { columns.append(.init("updatedAt", .date)) }
        if contains(.version) { columns.append(.init("version", .string)) }
        if contains(.deleted) { columns.append(.init("deleted", .bool)) }
        return columns
    }
}
