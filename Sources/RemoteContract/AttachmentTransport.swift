/// What carries the files of rows between a device and a server, in pieces and from any byte on.
///
/// It keeps no files and decides nothing: what is sent when, and how often, is for the caller. A file is never changed under
/// its name: whoever sends it again sends the same bytes, and a server that has the whole file keeps it. Cancelling the
/// calling task ends a request early with `CancellationError`; what has arrived until then may stay on the server.
///
/// Every function throws ``RemoteError`` as the functions of ``SyncRemote`` do: no answer, an answer that is not the
/// service's, and refusals are told apart in the same way.
public protocol AttachmentTransport: Sendable {
    /// What the server has of a file.
    func state(of id: AttachmentID) async throws -> AttachmentUploadState

    /// Appends to what the server has, and ends the file when the last byte of it has arrived.
    ///
    /// - Parameters:
    ///   - id: The file.
    ///   - offset: The first byte that is sent: what ``state(of:)`` said, 0 for a file that is not there. Bytes.
    ///   - length: How long the whole file is, in bytes; the same at each call.
    ///   - content: Gives the next bytes from `offset` on, of any length, and nil at the end; called until it says nil, by one
    ///     task at a time. What it throws ends the request and comes out of this function.
    /// - Throws: ``RemoteError`` with code ``RemoteError/Code/conflict`` when the server has another number of bytes than
    ///   `offset`: ask for its state anew.
    func upload(
        _ id: AttachmentID,
        from offset: Int64,
        length: Int64,
        content: @escaping @Sendable () async throws -> [UInt8]?
    ) async throws

    /// Fetches a file from a byte on.
    ///
    /// - Parameters:
    ///   - id: The file.
    ///   - offset: The first byte that is wanted, at most the file's length.
    ///   - receive: Is given which file it is and the next bytes, in order, by one task at a time; the request waits
    ///     for it, so memory stays flat. It is called once without bytes when there are none from `offset` on.
    ///     What it throws ends the request and comes out of this function. The first call may tell another version than the
    ///     one that the bytes before `offset` are of: then throw, and fetch the file anew.
    /// - Throws: ``RemoteError`` with code ``RemoteError/Code/notFound`` when the server has no such file, or only a part of it;
    ///   ``RemoteError/Code/conflict`` when it has fewer bytes than `offset`, or their version changes: fetch the file anew.
    func download(
        _ id: AttachmentID,
        from offset: Int64,
        receive: @escaping @Sendable (_ version: AttachmentVersion, _ bytes: [UInt8]) async throws -> Void
    ) async throws

    /// Removes a file from the server, whole or in part. One that is not there is no error.
    func delete(_ id: AttachmentID) async throws
}

/// What a server says about the file whose bytes it gives. A file is never changed under its name; this tells a server that
/// has another one there all the same, so that two files are not put together from their parts.
public struct AttachmentVersion: Sendable, Hashable {
    /// How long the whole file is, in bytes.
    public var length: Int64

    /// A text that is the same exactly as long as the bytes are: a strong `ETag`. Nil where the server has none.
    public var tag: String?

    /// Creates a version.
    public init(length: Int64, tag: String? = nil) { (self.length, self.tag) = (length, tag) }

    /// Whether both may be one file: a tag counts where both have one.
    public func isSame(as other: AttachmentVersion) -> Bool {
        length == other.length && (tag == nil || other.tag == nil || tag == other.tag)
    }
}

/// What a server has of a file.
public enum AttachmentUploadState: Sendable, Hashable {
    /// Nothing.
    case missing
    /// The first so many bytes of a file that is not complete.
    case partial(Int64)
    /// The whole file, of so many bytes.
    case complete(Int64)
}
