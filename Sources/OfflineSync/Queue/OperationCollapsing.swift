/// What a new local change does to the operation that waits for the same item.
///
/// The table is that of the original SDKs, with one difference: a queued operation that is being sent, or was sent
/// without an answer, counts as attempted. Deleting an item whose insert was attempted must reach the server.
///
/// | waiting | insert | update | delete |
/// | --- | --- | --- | --- |
/// | nothing | add | add | add |
/// | insert | refuse | keep | drop both, or delete when attempted |
/// | update | refuse | keep | becomes delete |
/// | delete | refuse | refuse | refuse |
enum CollapsedChange: Hashable {
    /// A new operation is queued.
    case add
    /// The waiting operation stays what it is; it will send the latest content.
    case keep
    /// The waiting operation keeps its place and becomes a delete.
    case becomeDelete
    /// The waiting operation is removed: the server never has to know.
    case drop
    /// The change contradicts what waits.
    case refuse

    init(waiting: TableOperation.Kind?, isAttempted: Bool, new: TableOperation.Kind) {
        self =
            switch (waiting, new) {
            case (nil, _): .add
            case (.insert, .update), (.update, .update): .keep
            case (.insert, .delete): isAttempted ? .becomeDelete : .drop
            case (.update, .delete): .becomeDelete
            case (_, .insert), (.delete, _): .refuse
            }
    }
}
