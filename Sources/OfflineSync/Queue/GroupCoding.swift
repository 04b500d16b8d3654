internal import SyncContract
internal import SyncMachines

/// The groups of changes that an operation is part of, as a text and back.
///
/// Of each group there are four numbers with points between: its own, the place of the first and of the last change of
/// the item in it, and the edit counter that this one has left. Groups are separated by spaces, the earliest first.
enum GroupCoding {
    /// Null for none.
    static func text(_ memberships: [GroupMembership]) -> FieldValue {
        guard !memberships.isEmpty else { return .null }
        // Written for every change of a group, so without the strings in between that interpolating and joining make.
        var text = ""
        for membership in memberships {
            if !text.isEmpty { text += " " }
            text += String(membership.group)
            for number in [membership.first, membership.last, membership.editCounter] {
                text += "."
                text += String(number)
            }
        }
        return .string(text)
    }

    /// Nil for a text of another form.
    static func memberships(_ text: String) -> [GroupMembership]? {
        var memberships: [GroupMembership] = []
        for part in text.split(separator: " ", omittingEmptySubsequences: false) {
            let fields = part.split(separator: ".", omittingEmptySubsequences: false)
            let numbers = fields.compactMap { Int64($0) }
            guard fields.count == 4, numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }), numbers[1] <= numbers[2],
                memberships.last.map({ $0.group < numbers[0] }) ?? true
            else { return nil }
            memberships.append(
                GroupMembership(group: numbers[0], first: numbers[1], last: numbers[2], editCounter: numbers[3])
            )
        }
        return memberships
    }
}
