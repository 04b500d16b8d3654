/// One change of files that has succeeded, as a ``FileSystem`` reports it.
///
/// What outlasts a kill is there after each of them; what outlasts a loss of power is what was ``synchronized(_:)``:
/// the content of a file, and the names in a folder, each for itself.
package enum DurableCall: Hashable, Sendable {
    /// A file or folder was created, empty.
    case created(String)
    /// Bytes were written to a file.
    case wrote(String)
    /// The content of a file, or the names in a folder, are on the medium.
    case synchronized(String)
    /// What was written to a file was read back and is right.
    case verified(String)
    /// A file got a second name, which nothing had.
    case linked(String, as: String)
    /// A file or folder got another name, in place of what had it.
    case renamed(String, to: String)
    /// A file or folder lost its name.
    case removed(String)
}
