/// A stored row. Its own columns are as they were sent; the system's are kept apart.
struct EmulatedRow: Sendable {
    let id: RowID
    /// Everything but the system columns.
    var values: [String: JSONValue]
    /// Milliseconds since 1970.
    var createdAt: Int64
    /// Milliseconds since 1970, different in every row of a table unless seeded.
    var updatedAt: Int64
    /// The version as it stands in bodies and between the quotes of an ETag.
    var version: String
    var deleted: Bool
}
