/// What a column that names files means for them.
public enum AttachmentRule: Sendable, Hashable {
    /// The row refers to the file. On the server it goes when the app says so.
    case refers
    /// The file belongs to the row: when the row is deleted, or the column changed, on this device, and the server has taken
    /// that, the file is removed there as well, unless another row on this device names it.
    case owns
}

/// A type whose values name files. A property of such a type is a column with an ``AttachmentRule``.
package protocol AttachmentName: ColumnValue {}
