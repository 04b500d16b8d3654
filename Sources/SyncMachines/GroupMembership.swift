/// That changes of an item were made in a group: with others that are sent in the order in which they were made.
package struct GroupMembership: Hashable, Sendable {
    /// The group's number. Groups made later have higher ones.
    package var group: Int64

    /// Where in the group the first change of the item stands.
    package var first: Int64

    /// Where the last one stands.
    package var last: Int64

    /// The edit counter that the last one has left.
    package var editCounter: Int64

    package init(group: Int64, first: Int64, last: Int64, editCounter: Int64) {
        self.group = group
        self.first = first
        self.last = last
        self.editCounter = editCounter
    }

    /// Whether the group has created the operation, and has not changed it again: whatever changes one that is there counts its
    /// edits up.
    package var isOfCreation: Bool { editCounter == 0 }
}
