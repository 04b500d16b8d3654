/// What becomes of the local row.
package enum RowEffect<Row: MachineRow>: Hashable, Sendable {
    /// It stays.
    case none
    /// The server's row takes its place.
    case server(Row)
    /// It keeps its content and takes the rest from the server's row: version and what the app does not declare.
    case adopt(Row)
    /// It is what it was, with everything that is only here.
    case local(Row)
    /// It keeps its content and gets the version of an older state, which the app gave.
    case version(Row.Version)
    /// It goes.
    case remove
}
