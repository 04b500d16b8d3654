internal import Foundation

/// The rules for ids of items, those of the original SDKs.
public enum ItemID {
    /// A new id: a random UUID in upper case.
    public static func make() -> String { UUID().uuidString }

    /// Checks an id.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItemID`` for an id that is empty or white space, longer
    ///   than 255 characters in UTF-16, as other clients count them, `.` or `..`, or that contains one of `+ ? " / \` and the backtick, or a control character
    ///   (U+0000 to U+001F, U+007F to U+009F).
    public static func validate(_ id: String) throws(SyncError) {
        let reason: String? =
            if id.allSatisfy(\.isWhitespace) {
                "it is empty"
            } else if id.utf16.count > 255 {
                "it is longer than 255 characters"
            } else if id == "." || id == ".." {
                "it is a path of its own"
            } else if id.unicodeScalars.contains(where: isForbidden) {
                "it contains one of + ? \" / \\ ` or a control character"
            } else {
                nil
            }
        if let reason {
            throw SyncError(.invalidItemID, "The id cannot be used: \(reason); choose another, or none to get a UUID.")
        }
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "+", "?", "\"", "/", "\\", "`", "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": true
        default: false
        }
    }
}
