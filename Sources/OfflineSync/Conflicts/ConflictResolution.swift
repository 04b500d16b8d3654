public import SyncContract

/// How a ``TableOperationError`` is settled.
public enum ConflictResolution: Sendable, Hashable {
    /// The local change stays and the next push sends it over the server's row, provided that the server's row is still
    /// the one in the error; a row that the server does not show is overwritten whatever it is. A row that the server
    /// deleted is brought back. A change that was merely refused is sent again.
    case keepMine
    /// As ``keepMine``, with other content: the result of a merge. The values are merged over the local row.
    case keepMerged(Record)
    /// The local change is dropped and the server's row takes the place of the local one, or removes it when the
    /// server has none. When the server did not show its row, the next pull fetches it; until then the local row stays.
    case takeServer
    /// The local change is dropped and the local row removed. What the server has comes back with the next pull.
    case discard
}
