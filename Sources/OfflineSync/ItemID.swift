internal import Foundation
internal import RemoteContract
internal import SyncContract

/// The rules for ids of new items: those of the original SDKs, and what every server of theirs can be told.
///
/// A remote may have another rule, its `idRule`, which then counts instead.
public enum ItemID {
    /// A new id: a UUID in upper case, which begins with the time in milliseconds and is random otherwise (version 7 of
    /// RFC 9562).
    ///
    /// Rows that are made one after the other lie together in every index by id: here, where each page that is touched is
    /// encrypted, and on the server. Who sees an id sees when it was made; where nobody may, give ids of your own.
    public static func make() -> String { make(at: .current) }

    /// An id of a moment.
    static func make(at time: Timestamp) -> String {
        func byte(_ place: Int64) -> UInt8 { UInt8(truncatingIfNeeded: time.milliseconds >> (8 * place)) }
        var bytes = UUID().uuid
        (bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5) = (byte(5), byte(4), byte(3), byte(2), byte(1), byte(0))
        bytes.6 = 0x70 | bytes.6 & 0x0F
        return UUID(uuid: bytes).uuidString
    }

    /// Checks an id of a new item. Rows that came from a server may have other ids.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItemID`` for an id that is empty or white space, longer
    ///   than 255 characters in UTF-16, as other clients count them, `.` or `..`, or that contains one of `+ ? " / \` and
    ///   the backtick, a control character (U+0000 to U+001F, U+007F to U+009F), or anything beyond ASCII, on which servers
    ///   fail after they have stored the row.
    public static func validate(_ id: String) throws(SyncError) {
        try validate(id, by: .standard)
    }

    /// The id of a new item that is given beside its fields, or among them as the original's items have theirs: nil for a new
    /// one.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItemID`` for one that is no text, and for two.
    static func given(_ id: String?, among fields: [String: FieldValue]) throws(SyncError) -> String? {
        switch fields["id"] {
        case nil, .null?, .string("")?: return id
        case .string(let given)? where id == nil || id == given: return given
        case .string?: throw SyncError(.invalidItemID, "The item is given two ids; give one.")
        default:
            throw SyncError(.invalidItemID, "Items of sync tables have strings as ids; give a string.")
        }
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
