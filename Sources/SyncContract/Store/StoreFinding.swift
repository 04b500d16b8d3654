/// Something in a store that is not as it was written, or that contradicts something else in it.
///
/// What verifies a store gives findings as values: damage in one place does not hide damage in another. Texts never hold
/// row content or ids.
public struct StoreFinding: Sendable, Hashable {
    /// What kind of damage it is. Kinds may be added: switch with a default.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        private let name: String

        private init(_ name: String) { self.name = name }

        /// The kind as a word.
        public var description: String { name }

        /// The file has lost its end, has grown from outside, or its first bytes are not those of a store.
        public static let damagedFile = Kind("damagedFile")
        /// A page was changed from outside, was exchanged, or was never written.
        public static let damagedPage = Kind("damagedPage")
        /// The WAL breaks off before its end: commits behind the break may be lost.
        public static let damagedWAL = Kind("damagedWAL")
        /// A log beside the database was not written for it, or was altered: opening refuses the store until it is gone. The
        /// other findings are about the database without it.
        public static let foreignLog = Kind("foreignLog")
        /// Pages are whole but do not fit together.
        public static let damagedStructure = Kind("damagedStructure")
        /// Rows cannot be read.
        public static let unreadableRows = Kind("unreadableRows")
        /// A row can be read, and a value in it is none of its column.
        public static let damagedValue = Kind("damagedValue")
        /// A table is not what the store remembers of it.
        public static let alteredTable = Kind("alteredTable")
        /// What a search looks words up in does not fit the rows.
        public static let inconsistentIndex = Kind("inconsistentIndex")
        /// The queue of changes, its errors or the settings of the sync engine contradict themselves or the rows.
        public static let inconsistentQueue = Kind("inconsistentQueue")
        /// The file of an attachment is damaged, or missing.
        public static let damagedAttachment = Kind("damagedAttachment")
        /// A file among the attachments belongs to no row.
        public static let strayAttachment = Kind("strayAttachment")
    }

    /// Where it is.
    public enum Place: Sendable, Hashable {
        /// In no place smaller than the store.
        case store
        /// In a page of the database file; the first is 1.
        case page(Int)
        /// In a frame of the WAL, which holds one page; the first is 1.
        case walFrame(Int)
        /// In a table.
        case table(String)
        /// In a row, which is named by the number the database gave it (`rowid`), not by its id.
        case row(Int64, table: String)
    }

    /// What kind of damage it is.
    public let kind: Kind

    /// Where it is.
    public let place: Place

    /// What is wrong, place included.
    public let message: String

    /// What to do about it.
    public let remedy: String

    /// Creates a finding.
    public init(_ kind: Kind, _ place: Place, _ message: String, remedy: String = Self.restoring) {
        self.kind = kind
        self.place = place
        self.message = message
        self.remedy = remedy
    }

    /// What to do about damage that nothing in the store can mend.
    public static let restoring =
        "restore the store from a backup, into an empty folder; what is only in this copy, read out first"
}

extension StoreFinding: CustomStringConvertible {
    /// The kind and what is wrong.
    public var description: String { "\(kind): \(message)" }
}
