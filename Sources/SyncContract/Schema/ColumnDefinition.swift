/// A declared column: its name and the one type its values have.
public struct ColumnDefinition: Sendable, Hashable {
    /// The name on this device; on the wire as well, unless ``wireName`` says otherwise.
    public private(set) var name: String

    /// The name that the server has for the column.
    ///
    /// Whatever leaves for the server has it and whatever comes from there is looked for under it; everything on this device
    /// goes by ``name``. A column that is renamed here by a migration keeps the server's name when this says it.
    ///
    /// Rows may hold a value under this name already, from before the column was declared. It goes on being sent until the
    /// column has a value; a migration brings it into the column: `.renameColumn("remark", to: "comment", in: …)`.
    public let wireName: String

    /// The type of every value that is not null.
    public let type: ColumnType

    /// Whether the store keeps an index of the column's words and of its folded text.
    ///
    /// With it, ``QueryPredicate/matches(words:in:_:)``, the folded text and its beginnings are looked up, and rows come
    /// in its order without sorting; without it all this means the same and goes through all rows. The index is made
    /// when the store is opened, takes about the space of the text, and makes writing the column slower.
    public let isSearchable: Bool

    /// Whether the column belongs to this device: it is never sent, and what a server sends never touches it.
    ///
    /// In a row that comes from the server it is null at first; a row that the server removes takes it along. A change of
    /// nothing else is not queued. Where the server has a column of the same name, its values are kept under another key.
    public let isLocal: Bool

    /// The table whose ids the column holds; nil for a column that refers to nothing.
    ///
    /// Where that table ``TableDefinition/assignsIDs``, the column holds local ids here and the server's ids there.
    public let references: String?

    /// What the deletion of the row that the column refers to does to the rows that refer to it.
    public let onDelete: DeletionRule

    /// What the column's text is to a server that has a type for it.
    public let textForm: TextForm

    /// What the column means for the files that it names; nil for one that names no files.
    ///
    /// Nothing of this is stored with the schema.
    public let attachment: AttachmentRule?

    /// Declares a column. Names are checked when the schema is made, that only text is searchable, and that a column which
    /// refers to a table is text, and the table declared, and that one with a rule for deletions refers to a table.
    ///
    /// - Parameters:
    ///   - name: The name on this device.
    ///   - type: The type of every value that is not null.
    ///   - isSearchable: Whether words of the text are looked up in an index.
    ///   - isLocal: Whether the column stays on this device.
    ///   - references: The table whose ids the column holds.
    ///   - onDelete: What the deletion of the row with that id does.
    ///   - wireName: The server's name for the column; nil when it is the same.
    ///   - textForm: What the column's text is to a server that has a type for it.
    ///   - attachment: What the column means for the files that it names; such a column is text.
    public init(
        _ name: String,
        _ type: ColumnType,
        isSearchable: Bool = false,
        isLocal: Bool = false,
        references: String? = nil,
        onDelete: DeletionRule = .noAction,
        wireName: String? = nil,
        textForm: TextForm = .text,
        attachment: AttachmentRule? = nil
    ) {
        self.name = name
        self.wireName = wireName ?? name
        self.type = type
        self.isSearchable = isSearchable
        self.isLocal = isLocal
        self.references = references
        self.onDelete = onDelete
        self.textForm = textForm
        self.attachment = attachment
    }

    /// This column as the server knows it.
    package var onWire: ColumnDefinition {
        var column = self
        column.name = wireName
        return column
    }
}

/// What a column's text is to a server that has a type for it.
///
/// Here it is text, whatever it is there: it is stored, compared and ordered by its bytes. A table that is made from an item
/// type has the form from its properties.
public enum TextForm: Sendable, Hashable {
    /// Text.
    case text
    /// A ``Day``. Servers of protocol 3 may have it as Edm.Date, and conditions that are sent to them hold it against a
    /// literal of that type; protocol 2 has text.
    case day
    /// A ``TimeOfDay``. Servers of protocol 3 may have it as Edm.TimeOfDay, and conditions that are sent to them hold it
    /// against a literal of that type; protocol 2 has text.
    case timeOfDay
}

/// What the deletion of a row does to the rows that refer to it.
///
/// A rule is followed when the app deletes a row through the sync engine: in the same transaction, each row that changes with
/// an operation of its own, and all of them as a group, so that no server ever has a row whose other row is gone. Rows that a
/// pull or a purge removes have no consequences here: what they do to others is the server's to say, and comes with a pull
/// as well. Until then a column may hold the id of a row that is not here, as it may whenever the one row has come before the
/// other.
public enum DeletionRule: Sendable, Hashable {
    /// Nothing: they keep the id.
    case noAction
    /// The column becomes null in them.
    case nullify
    /// They are deleted as well, before it, and so are those that refer to them.
    case cascade
}

/// The type of a column.
public enum ColumnType: String, Sendable, Hashable, CaseIterable {
    /// ``FieldValue/bool(_:)``
    case bool
    /// ``FieldValue/int64(_:)``
    case int64
    /// ``FieldValue/double(_:)``; a whole number is taken as well, when a double holds it exactly.
    case double
    /// ``FieldValue/decimal(_:)``; a whole number is taken as well.
    case decimal
    /// ``FieldValue/string(_:)``
    case string
    /// ``FieldValue/date(_:)``
    case date
    /// ``FieldValue/bytes(_:)``
    case bytes
    /// ``FieldValue/json(_:)``
    case json

    /// The value in the form this type stores, or nil when the value does not belong in such a column.
    ///
    /// Null belongs in every column. A NaN belongs in none.
    public func accepting(_ value: FieldValue) -> FieldValue? {
        // `.none`, not `nil`: the literal could also be read as the value null, as it is in `isNaN ? nil : value`.
        switch (self, value) {
        case (_, .null), (.bool, .bool), (.int64, .int64), (.decimal, .decimal), (.string, .string), (.date, .date),
            (.bytes, .bytes), (.json, .json):
            value
        case (.double, .double(let number)): number.isNaN ? .none : .some(value)
        case (.double, .int64(let number)): Double(exactly: number).map(FieldValue.double)
        case (.decimal, .int64(let number)): .decimal(DecimalText(number))
        default: .none
        }
    }
}
