/// A stored row. Its own columns are as they were sent; the system's are kept apart.
struct EmulatedRow: Sendable {
    let id: RowID
    /// Everything but the system columns.
    var values: [String: JSONValue]
    /// Milliseconds since 1970.
    var createdAt: Int64
    /// `updatedAt` as the table keeps it, in units of 100 nanoseconds since 1970: different in every row of a table
    /// unless seeded. Filters compare this.
    var stamp: Int64
    /// The version as it stands in bodies and between the quotes of an ETag.
    var version: String
    var deleted: Bool

    /// Milliseconds since 1970: what answers show of the stamp.
    var updatedAt: Int64 {
        Timestamp.wholeMilliseconds(stamp) / Timestamp.ticksPerMillisecond
    }
}
