import DurableFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A small file that only its owner may read and write.
///
/// Reading and creating block: they belong on `BlockingWork`.
package struct PrivateFile: Sendable {
    /// What the file is to the user, for messages: "keyslot file".
    let role: String
    let path: String
    /// The path of the folder, with a slash at the end.
    let folder: String
    let name: String
    /// What changes the file.
    let fileSystem: FileSystem

    /// Takes a file's URL.
    ///
    /// - Throws: `KeyError` with code `invalidParameters` if it is no URL of a file, or its path holds a zero byte, at
    ///   which the system would cut it off.
    init(_ url: URL, role: String, in fileSystem: FileSystem = FileSystem()) throws(KeyError) {
        let path = url.path(percentEncoded: false)
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard url.isFileURL, !name.isEmpty, !path.utf8.contains(0) else {
            throw KeyError(.invalidParameters, message: "The location of the \(role) is not the URL of a file.")
        }
        self.role = role
        self.fileSystem = fileSystem
        self.path = path
        self.name = String(name)
        folder = path == name ? "./" : String(path.dropLast(name.count))
    }
}
