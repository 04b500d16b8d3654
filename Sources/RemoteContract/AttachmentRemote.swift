/// A remote whose service carries the files of rows as well.
public protocol AttachmentRemote: SyncRemote {
    /// What carries files.
    associatedtype Attachments: AttachmentTransport

    /// The service's files below a path, asked for with the same credentials as rows. Nothing is sent yet.
    ///
    /// - Throws: ``RemoteError`` with code ``RemoteError/Code/invalidAddress`` for a path that cannot be one.
    func attachments(path: String) throws(RemoteError) -> Attachments
}
