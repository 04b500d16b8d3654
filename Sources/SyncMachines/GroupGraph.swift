/// Which operations come before which others because a group changed their items in that order.
struct GroupGraph {
    /// What comes right after each operation.
    private(set) var successors: [Int64: Set<Int64>] = [:]

    /// The operations, together with those that come before them and after them at once. What comes after a unit stands in
    /// front of it.
    private(set) var units: [[Int64]] = []

    init(_ entries: [PushOrder.Entry]) {
        var changes: [Int64: [(position: Int64, number: Int64)]] = [:]
        for entry in entries {
            successors[entry.number] = []
            for membership in entry.memberships {
                changes[membership.group, default: []].append((membership.first, entry.number))
                if membership.last != membership.first {
                    changes[membership.group, default: []].append((membership.last, entry.number))
                }
            }
        }
        for changes in changes.values {
            let numbers = changes.sorted { ($0.position, $0.number) < ($1.position, $1.number) }.map(\.number)
            for (number, next) in zip(numbers, numbers.dropFirst()) where number != next {
                successors[number]?.insert(next)
            }
        }
        findUnits(among: successors.keys.sorted())
    }

    /// Finds the strongly connected components (Tarjan), without recursion: a group may be long.
    private mutating func findUnits(among numbers: [Int64]) {
        var search = Search()
        for number in numbers where search.indices[number] == nil {
            search.enter(number, successors)
            while let number = search.path.last?.number {
                if let next = search.path[search.path.count - 1].left.popLast() {
                    if search.indices[next] == nil {
                        search.enter(next, successors)
                    } else if search.open.contains(next) {
                        search.reaches(number, search.indices[next])
                    }
                } else {
                    search.path.removeLast()
                    if let before = search.path.last?.number { search.reaches(before, search.lowest[number]) }
                    if let unit = search.closed(number) { units.append(unit) }
                }
            }
        }
    }

    private struct Search {
        var indices: [Int64: Int] = [:]
        /// The lowest index of an open operation that is reached from each one.
        var lowest: [Int64: Int] = [:]
        var open: Set<Int64> = []
        var stack: [Int64] = []
        var path: [(number: Int64, left: [Int64])] = []

        mutating func enter(_ number: Int64, _ successors: [Int64: Set<Int64>]) {
            (indices[number], lowest[number]) = (indices.count, indices.count)
            open.insert(number)
            stack.append(number)
            path.append((number, (successors[number] ?? []).sorted()))
        }

        mutating func reaches(_ number: Int64, _ index: Int?) {
            guard let index, let known = lowest[number], index < known else { return }
            lowest[number] = index
        }

        /// The unit that is complete with an operation, nil when it is not.
        mutating func closed(_ number: Int64) -> [Int64]? {
            guard lowest[number] == indices[number], let start = stack.lastIndex(of: number) else { return nil }
            let unit = Array(stack[start...])
            stack.removeSubrange(start...)
            open.subtract(unit)
            return unit
        }
    }
}
