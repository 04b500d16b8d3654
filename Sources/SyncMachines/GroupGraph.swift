/// Which operations come before which others because a group changed their items in that order. Operations, units and groups
/// are told apart by their places in lists: a queue may have a hundred thousand.
struct GroupGraph: Sendable {
    /// The operations' numbers, ascending.
    let numbers: [Int64]

    /// The operations, together with those that come before them and after them at once, in the order in which they are sent.
    /// What comes after a unit stands in front of it.
    private(set) var units = IndexLists()

    /// The unit of each operation.
    private(set) var unitOf: [Int32]

    /// The units right after each one.
    private(set) var successors = IndexLists()

    /// The groups of each operation but the earliest.
    private(set) var laterGroups = IndexLists()

    /// The operations of each group that no earlier one has changed.
    private(set) var firstChanged = IndexLists()

    /// - Parameter entries: In the order of their numbers, of which none comes twice.
    init(_ entries: [PushOrder.Entry]) {
        numbers = entries.map(\.number)
        unitOf = Array(repeating: 0, count: entries.count)
        let changes = Self.changes(entries)
        findUnits(among: IndexLists(entries.count, Self.pairs(of: changes)))
        let between = Self.pairs(of: changes)
            .map { (list: unitOf[Int($0.list)], value: unitOf[Int($0.value)]) }.filter { $0.list != $0.value }
        successors = IndexLists(units.count, between)
        orderUnits(by: entries.map(\.place))
        noteGroups(entries)
    }

    /// The place of an operation among all; nil when it is none of them.
    func index(of number: Int64) -> Int? {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < numbers.count && numbers[low] == number ? low : nil
    }

    private typealias Change = (group: Int64, position: Int64, index: Int32)

    /// The first and the last change of each operation in each group, group by group, in the order in which they were made.
    private static func changes(_ entries: [PushOrder.Entry]) -> [Change] {
        var changes: [Change] = []
        changes.reserveCapacity(entries.count)
        for (index, entry) in entries.enumerated() {
            for membership in entry.memberships {
                changes.append((membership.group, membership.first, Int32(index)))
                if membership.last != membership.first {
                    changes.append((membership.group, membership.last, Int32(index)))
                }
            }
        }
        return changes.sorted { $0 < $1 }
    }

    /// What follows what in a group.
    private static func pairs(of changes: [Change]) -> [(list: Int32, value: Int32)] {
        zip(changes, changes.dropFirst())
            .compactMap { before, after in
                before.group == after.group && before.index != after.index ? (before.index, after.index) : nil
            }
    }

    /// Finds the strongly connected components (Tarjan), without recursion: a group may be long.
    private mutating func findUnits(among successors: IndexLists) {
        var search = Search(count: numbers.count)
        for start in numbers.indices where search.indices[start] < 0 {
            search.enter(start, successors)
            while let (index, left) = search.path.last {
                if left > successors[index].startIndex {
                    search.path[search.path.count - 1].left -= 1
                    let next = Int(successors[index][left - 1])
                    if search.indices[next] < 0 {
                        search.enter(next, successors)
                    } else if search.isOpen[next] {
                        search.reaches(index, search.indices[next])
                    }
                } else {
                    search.path.removeLast()
                    if let before = search.path.last?.index { search.reaches(before, search.lowest[index]) }
                    if let unit = search.closed(index) {
                        for member in unit { unitOf[Int(member)] = Int32(units.count) }
                        units.append(unit)
                    }
                }
            }
        }
    }

    private struct Search {
        /// Which one each was to be entered; -1 for none yet.
        var indices: [Int32]
        /// The lowest index of an open operation that is reached from each one.
        var lowest: [Int32]
        var isOpen: [Bool]
        var entered: Int32 = 0
        var stack: [Int32] = []
        /// The way to where it is, and what is left of the successors of each.
        var path: [(index: Int, left: Int)] = []

        init(count: Int) {
            indices = Array(repeating: -1, count: count)
            lowest = indices
            isOpen = Array(repeating: false, count: count)
        }

        mutating func enter(_ index: Int, _ successors: IndexLists) {
            (indices[index], lowest[index]) = (entered, entered)
            entered += 1
            isOpen[index] = true
            stack.append(Int32(index))
            path.append((index, successors[index].endIndex))
        }

        mutating func reaches(_ index: Int, _ other: Int32) { lowest[index] = min(lowest[index], other) }

        /// The unit that is complete with an operation, nil when it is not.
        mutating func closed(_ index: Int) -> [Int32]? {
            guard lowest[index] == indices[index], let start = stack.lastIndex(of: Int32(index)) else { return nil }
            let unit = Array(stack[start...])
            stack.removeSubrange(start...)
            for member in unit { isOpen[Int(member)] = false }
            return unit
        }
    }

    /// Puts the operations of each unit in the order of their last changes.
    private mutating func orderUnits(by places: [(Int64, Int64, Int64)]) {
        var ordered = IndexLists()
        for unit in 0..<units.count {
            let members = units[unit]
            ordered.append(members.count == 1 ? members : members.sorted { places[Int($0)] < places[Int($1)] }[...])
        }
        units = ordered
    }

    private mutating func noteGroups(_ entries: [PushOrder.Entry]) {
        var places: [Int64: Int32] = [:]
        func place(_ group: Int64) -> Int32 {
            let next = Int32(places.count)
            return places[group]
                ?? {
                    places[group] = next
                    return next
                }()
        }
        var first: [(list: Int32, value: Int32)] = []
        for (index, entry) in entries.enumerated() {
            let earliest = entry.memberships.map(\.group).min()
            if let earliest { first.append((place(earliest), Int32(index))) }
            // Most are of one.
            let later = entry.memberships.count > 1 ? entry.memberships.map(\.group).filter { $0 != earliest } : []
            laterGroups.append(later.map(place))
        }
        firstChanged = IndexLists(places.count, first)
    }
}
