/// Where a file stands between this device and the server.
public enum AttachmentState: Sendable, Hashable {
    /// Nothing is known of the file here: neither was it added, nor was it asked for.
    case unknown
    /// Here and on the server.
    case synced
    /// On the server only, as far as this device knows.
    case remote
    /// Here, and not on the server yet: it waits for its row, its turn or the network.
    case pending
    /// On its way to the server, with the part that has been sent, 0 to 1.
    case uploading(Double)
    /// On its way here, with the part that has arrived, 0 to 1.
    case downloading(Double)
    /// Here, or wanted here, and it cannot go on by itself: the message says why, and what helps.
    case failed(String)
}
