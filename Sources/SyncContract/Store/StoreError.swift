#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why a store could not do what was asked.
///
/// The message says what went wrong and what to do next. It never holds row content or secrets.
public struct StoreError: Error, Sendable {
    /// A reason to branch on. Codes may be added: switch with a default.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let name: String

        private init(_ name: String) { self.name = name }

        /// The code as a word.
        public var description: String { name }

        /// The table is not declared.
        public static let tableNotFound = Code("tableNotFound")
        /// A declaration breaks the rules for names, or contradicts itself.
        public static let invalidSchema = Code("invalidSchema")
        /// The stored tables cannot be brought to the declared ones. Nothing was touched.
        public static let schemaMismatch = Code("schemaMismatch")
        /// The store has a higher version of its tables than the schema it was opened with. Nothing was touched.
        public static let newerSchema = Code("newerSchema")
        /// A migration would orphan changes that wait to be sent. Nothing was touched; the message says which.
        public static let migrationRefused = Code("migrationRefused")
        /// A record has an id of the wrong kind or a value that does not fit its column.
        public static let invalidRecord = Code("invalidRecord")
        /// An item of a `Codable` type cannot be turned into a record of its table, or a record into the item.
        public static let invalidItem = Code("invalidItem")
        /// A query names an undeclared column, or a number in it is out of range.
        public static let invalidQuery = Code("invalidQuery")
        /// The store cannot do this; its capabilities say what it can.
        public static let unsupported = Code("unsupported")
        /// A number that was computed does not fit the type of its column.
        public static let outOfRange = Code("outOfRange")
        /// The key does not open the database. The file is untouched.
        public static let wrongKey = Code("wrongKey")
        /// The database is damaged or is not a database of this kind.
        public static let damaged = Code("damaged")
        /// The database was written in a format that this library cannot read.
        public static let unsupportedFormat = Code("unsupportedFormat")
        /// The linked library does not encrypt.
        public static let notEncrypting = Code("notEncrypting")
        /// There is no database at this place.
        public static let notFound = Code("notFound")
        /// There already is a database at this place. Thrown by what makes a store, never by a transaction.
        public static let alreadyExists = Code("alreadyExists")
        /// Another process, or another store object, holds the store. Thrown by what opens a store, and by a transaction only
        /// where a program that does not know of this one has got hold of its files.
        public static let inUse = Code("inUse")
        /// No space is left, or a size limit was reached. Nothing of the transaction was kept.
        public static let full = Code("full")
        /// The file or its folder cannot be written.
        public static let readOnly = Code("readOnly")
        /// The operating system reported an input or output error.
        public static let inputOutput = Code("inputOutput")
        /// The store is locked: its key is not in memory. Nothing of the call was done; unlock the store first.
        public static let locked = Code("locked")
        /// The store was closed.
        public static let closed = Code("closed")
        /// A rule of the database was broken, such as a unique id.
        public static let constraint = Code("constraint")
        /// A failure inside the store that callers cannot mend.
        public static let `internal` = Code("internal")
    }

    /// The reason to branch on.
    public let code: Code

    /// What went wrong and what to do next.
    public let message: String

    /// The error underneath, when there is one.
    public let cause: (any Error)?

    /// Creates an error. Stores by other authors use the same codes.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The error for a table that is not declared.
    public static func tableNotFound(_ table: String) -> StoreError {
        StoreError(.tableNotFound, "Table '\(table)' is not declared; add it to the schema the store is opened with.")
    }

    static func invalidSchema(_ message: String) -> StoreError { StoreError(.invalidSchema, message) }

    static func invalidQuery(_ message: String) -> StoreError { StoreError(.invalidQuery, message) }
}

extension StoreError: CustomStringConvertible {
    /// Code, message and cause.
    public var description: String {
        "\(code): \(message)" + (cause.map { " (\($0))" } ?? "")
    }
}

extension StoreError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}
