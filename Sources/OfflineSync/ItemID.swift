internal import Foundation
internal import RemoteContract

/// The rules for ids of new items: those of the original SDKs, and what every server of theirs can be told.
///
/// A remote may have another rule, its `idRule`, which then counts instead.
public enum ItemID {
    /// A new id: a random UUID in upper case.
    public static func make() -> String { UUID().uuidString }

    /// Checks an id of a new item. Rows that came from a server may have other ids.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItemID`` for an id that is empty or white space, longer
    ///   than 255 characters in UTF-16, as other clients count them, `.` or `..`, or that contains one of `+ ? " / \` and
    ///   the backtick, a control character (U+0000 to U+001F, U+007F to U+009F), or anything beyond ASCII, on which servers
    ///   fail after they have stored the row.
    public static func validate(_ id: String) throws(SyncError) {
        try validate(id, by: .standard)
    }

    /// Checks an id of a new item by what a remote says of its server.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItemID``, which says why the server does not take the id.
    static func validate(_ id: String, by rule: RowIDRule) throws(SyncError) {
        if let reason = rule.problem(of: id) {
            throw SyncError(.invalidItemID, "The id cannot be used: \(reason); choose another, or none to get a UUID.")
        }
    }
}
