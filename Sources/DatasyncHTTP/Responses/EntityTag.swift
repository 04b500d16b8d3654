internal import RemoteContract

/// Versions as they travel in `If-Match` and `ETag`: in double quotes, inner quotes escaped by a backslash.
enum EntityTag {
    /// The header value for a version.
    ///
    /// - Throws: ``RemoteContract/RemoteError`` with code `invalidRequest` for a version that is not printable ASCII:
    ///   no server sent that, and a damaged condition must not become none.
    static func quoted(_ version: String, table: String) throws(RemoteError) -> String {
        guard version.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .invalidRequest(
                "A row of table '\(table)' has a version that no server gave it; fetch the row again."
            )
        }
        return "\"" + version.replacing("\"", with: "\\\"") + "\""
    }

    /// The version in an `ETag`; nil for a weak tag, which is a hash of the answer and no version, and for anything
    /// that is not in quotes or is empty.
    static func version(_ header: String?) -> String? {
        guard let header, header.utf8.count > 2, header.hasPrefix("\""), header.hasSuffix("\"") else { return nil }
        return String(header.dropFirst().dropLast()).replacing("\\\"", with: "\"")
    }
}
