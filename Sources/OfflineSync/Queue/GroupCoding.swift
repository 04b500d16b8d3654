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
        var (numbers, place, hasDigits): ((Int64, Int64, Int64, Int64), Int, Bool) = ((0, 0, 0, 0), 0, false)
        func add() -> Bool {
            guard place == 3, hasDigits, numbers.1 <= numbers.2, memberships.last.map({ $0.group < numbers.0 }) ?? true
            else { return false }
            memberships.append(
                GroupMembership(group: numbers.0, first: numbers.1, last: numbers.2, editCounter: numbers.3)
            )
            (numbers, place, hasDigits) = ((0, 0, 0, 0), 0, false)
            return true
        }
        // Of a queue in groups each text is read when a push begins, so it is not cut into pieces.
        for character in text.utf8 {
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let digit = Int64(character - UInt8(ascii: "0"))
                let isRead =
                    switch place {
                    case 0: numbers.0.append(digit)
                    case 1: numbers.1.append(digit)
                    case 2: numbers.2.append(digit)
                    default: numbers.3.append(digit)
                    }
                guard isRead else { return nil }
                hasDigits = true
            case UInt8(ascii: "."):
                guard hasDigits, place < 3 else { return nil }
                (place, hasDigits) = (place + 1, false)
            case UInt8(ascii: " "): guard add() else { return nil }
            default: return nil
            }
        }
        return add() ? memberships : nil
    }
}

extension Int64 {
    /// Adds a decimal digit behind the others; false for a number that is too large.
    fileprivate mutating func append(_ digit: Int64) -> Bool {
        let (tens, isTooLarge) = multipliedReportingOverflow(by: 10)
        let (sum, isLarger) = tens.addingReportingOverflow(digit)
        self = sum
        return !isTooLarge && !isLarger
    }
}
