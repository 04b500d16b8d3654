/// Decides which of the operations that were made in groups is sent next. A value without clock, store or network.
///
/// There is one operation per item, however many changes it holds, and those may come from several groups. So the order of
/// a group is one between operations: *x* comes before *y* when a group changed *x* before it changed *y*. The server then
/// never has a later part of a group without the earlier ones.
///
/// 1. **An operation is sent when all that come before it have been settled**: taken, or given up. Among those that may be
///    sent, the one with the lowest number is next.
/// 2. **Operations that come before each other are one unit.** A group changed *x* and then *y*, another *y* and then *x*:
///    whichever is sent first, the server has a part of one group that is later than one it lacks. The unit is sent
///    without anything between that depends on it, one after the other in the order of their last changes; what comes
///    after any of them comes after all.
/// 3. **What was not taken holds back all that comes after it,** the rest of its unit included.
/// 4. **A group waits as a whole when it changed an item of an earlier group that is held back,** but for items that were
///    changed by earlier groups as well: what these wait for is said by the first three rules.
/// 5. **Nothing else waits:** groups without an item in common, and changes outside of groups, pass by.
/// 6. **A row goes before those that refer to it,** wherever its group has put it: whoever chooses sends it in the place
///    of the first of those, ahead of what else it would follow, unless that is under way. What goes before that one goes before
///    both.
///
/// A change outside of any group stands where the operation stands that holds it. What of an operation was taken by the
/// server does not count any more: an item that was changed while it was on its way keeps only what came later.
package struct PushOrder: Sendable {
    /// An operation that holds changes made in groups.
    package struct Entry: Hashable, Sendable {
        package var number: Int64
        package var memberships: [GroupMembership]
        /// Whether it is not sent by this push: it waits for a decision, has had its turn, or was made too late.
        package var isBlocked: Bool
        /// Whether it was asked for. One that comes before such a one is sent as well.
        package var isWanted: Bool

        package init(_ number: Int64, _ memberships: [GroupMembership], isBlocked: Bool = false, isWanted: Bool = true)
        {
            self.number = number
            self.memberships = memberships
            self.isBlocked = isBlocked
            self.isWanted = isWanted
        }

        /// Where it stands in its unit: at its last change. What deletes a row was changed after what refers to the row.
        var place: (Int64, Int64, Int64) {
            let last = memberships.max { ($0.group, $0.last) < ($1.group, $1.last) }
            return (last?.group ?? 0, last?.last ?? 0, number)
        }
    }

    /// How a unit stands: one operation, or several that come before each other.
    private struct Unit {
        /// How many were not sent yet.
        var left: Int32 = 0
        /// How many of them were sent that stand in front.
        var begun: Int32 = 0
        var underWay: Int32 = 0
        /// How many units have to be settled before.
        var waitsFor: Int32 = 0
        var isHeld = false
        var isWanted = false
    }

    /// What does not change while the order lasts. Nothing that does refers to memory of its own for each operation: an order is
    /// copied for each choice.
    private let graph: GroupGraph
    private var units: [Unit]
    /// What was sent, or was under way from the beginning.
    private var isBegun: [Bool]
    /// The units that may be sent, by the number of what is next in them, the lowest last; each once.
    private var ready: [(number: Int64, unit: Int)] = []

    /// Takes in the operations of all groups that wait.
    ///
    /// - Parameters:
    ///   - entries: The operations, each once.
    ///   - underWay: The numbers of those that have been sent and have no answer yet.
    package init(_ entries: [Entry] = [], underWay: Set<Int64> = []) {
        let isInOrder = zip(entries, entries.dropFirst()).allSatisfy { $0.number < $1.number }
        let entries = isInOrder ? entries : entries.sorted { $0.number < $1.number }
        graph = GroupGraph(entries)
        units = Array(repeating: Unit(), count: graph.units.count)
        isBegun = entries.map { underWay.contains($0.number) }
        for (index, entry) in entries.enumerated() {
            let unit = Int(graph.unitOf[index])
            if entry.isWanted { units[unit].isWanted = true }
            if isBegun[index] { units[unit].underWay += 1 } else { units[unit].left += 1 }
        }
        // The units are in such an order that what comes after one stands before it.
        for unit in units.indices {
            for successor in graph.successors[unit] {
                units[Int(successor)].waitsFor += 1
                if units[Int(successor)].isWanted { units[unit].isWanted = true }
            }
        }
        for (index, entry) in entries.enumerated() where entry.isBlocked && !isBegun[index] { holdBack(entry.number) }
        ready = units.indices.compactMap(offered).sorted { $0.number > $1.number }
    }

    /// Whether an operation is one of those that it decides about.
    package func contains(_ number: Int64) -> Bool { graph.index(of: number) != nil }

    /// The number of the operation to be sent next; nil when none may be sent now.
    package var next: Int64? { ready.last?.number }

    /// Whether an operation may be sent now.
    package func maySend(_ number: Int64) -> Bool { unit(of: number).flatMap(offered)?.number == number }

    /// Whether an operation has not been sent and is not held back, whatever it follows.
    package func isLeft(_ number: Int64) -> Bool {
        guard let index = graph.index(of: number) else { return false }
        return !units[Int(graph.unitOf[index])].isHeld && !isBegun[index]
    }

    /// Whether an operation is sent in its turn: it was asked for, or something that comes after it.
    package func isWanted(_ number: Int64) -> Bool { unit(of: number).map { units[$0].isWanted } ?? false }

    /// What has to be sent next so that an operation can be.
    package enum Lead: Equatable, Sendable {
        case next(Int64)
        /// Something that stands before it is under way.
        case underWay
    }

    /// What may be sent now of that which stands before an operation in its groups, or the operation itself; asked for or not.
    /// Nil when nothing of it may be sent.
    package func lead(to number: Int64) -> Lead? {
        guard let target = unit(of: number), !units[target].isHeld else { return nil }
        var before: Set<Int> = [target]
        // What comes after a unit stands in front of it.
        for index in units.indices.dropFirst(target + 1)
        where graph.successors[index].contains(where: { before.contains(Int($0)) }) { before.insert(index) }
        let next = before.filter { !units[$0].isHeld && units[$0].underWay == 0 && units[$0].waitsFor == 0 }
            .compactMap(nextNumber).min()
        if let next { return .next(next) }
        return before.contains { units[$0].underWay > 0 } ? .underWay : nil
    }

    /// Whether two operations come before each other.
    package func areOne(_ number: Int64, _ other: Int64) -> Bool {
        unit(of: number).map { $0 == unit(of: other) } ?? false
    }

    /// Whether an operation comes before another one, through whatever stands between them, be it that it comes after it as well.
    package func comesBefore(_ number: Int64, _ other: Int64) -> Bool {
        guard let unit = unit(of: number), let target = self.unit(of: other) else { return false }
        var (open, found): ([Int], Set<Int>) = ([unit], [])
        // What comes after a unit stands in front of it.
        while let next = open.popLast() {
            if next == target { return true }
            for successor in graph.successors[next].lazy.map({ Int($0) }) where successor >= target {
                if found.insert(successor).inserted { open.append(successor) }
            }
        }
        return false
    }

    /// What comes after an operation, be it that it comes before it as well.
    package func followers(of number: Int64) -> Set<Int64> {
        guard let first = unit(of: number) else { return [] }
        var (open, found): ([Int], Set<Int>) = ([first], [first])
        while let unit = open.popLast() {
            for successor in graph.successors[unit].lazy.map({ Int($0) }) where found.insert(successor).inserted {
                open.append(successor)
            }
        }
        return Set(found.flatMap { graph.units[$0].map { graph.numbers[Int($0)] } }).subtracting([number])
    }

    /// Takes note that an operation is being sent: one that may be sent now, or one that is sent ahead because a row that may
    /// be sent refers to its row.
    package mutating func start(_ number: Int64) {
        guard let index = graph.index(of: number) else { return }
        let unit = Int(graph.unitOf[index])
        removeReady(number)
        units[unit].underWay += 1
        guard !isBegun[index] else { return }
        isBegun[index] = true
        units[unit].left -= 1
        let members = graph.units[unit].dropFirst(Int(units[unit].begun))
        units[unit].begun += Int32(members.prefix { isBegun[Int($0)] }.count)
    }

    /// Takes note that an operation has had its turn.
    ///
    /// - Parameters:
    ///   - number: The operation.
    ///   - isSettled: Whether nothing of it waits any longer that was made in a group.
    package mutating func end(_ number: Int64, isSettled: Bool) {
        guard let unit = unit(of: number), units[unit].underWay > 0 else { return }
        units[unit].underWay -= 1
        guard isSettled else { return holdBack(number) }
        guard units[unit].underWay == 0, units[unit].left == 0 else { return offer(unit) }
        finish(unit)
    }

    /// Lets what comes after a unit be sent, when all of it was settled and nothing comes before it.
    private mutating func finish(_ first: Int) {
        var finished = [first]
        while let unit = finished.popLast() {
            // One that was sent ahead does not let anything pass that comes before it.
            guard !units[unit].isHeld, units[unit].waitsFor == 0 else { continue }
            for successor in graph.successors[unit].lazy.map({ Int($0) }) {
                units[successor].waitsFor -= 1
                guard units[successor].waitsFor == 0 else { continue }
                if units[successor].underWay == 0, units[successor].left == 0 {
                    finished.append(successor)
                } else {
                    offer(successor)
                }
            }
        }
    }

    /// Lets a unit be sent when nothing is in the way.
    private mutating func offer(_ index: Int) {
        guard let offered = offered(index) else { return }
        let place = readyPlace(of: offered.number)
        if place == ready.count || ready[place].number != offered.number { ready.insert(offered, at: place) }
    }

    private mutating func removeReady(_ number: Int64) {
        let place = readyPlace(of: number)
        if place < ready.count, ready[place].number == number { ready.remove(at: place) }
    }

    /// The place of what is ready and has a number, or where it would be inserted.
    private func readyPlace(of number: Int64) -> Int {
        var (low, high) = (0, ready.count)
        while low < high {
            let middle = (low + high) / 2
            if ready[middle].number > number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func unit(of number: Int64) -> Int? { graph.index(of: number).map { Int(graph.unitOf[$0]) } }

    /// The number of the next one of a unit that was not sent.
    private func nextNumber(_ unit: Int) -> Int64? {
        guard units[unit].left > 0 else { return nil }
        let next = graph.units[unit].dropFirst(Int(units[unit].begun)).first { !isBegun[Int($0)] }
        return next.map { graph.numbers[Int($0)] }
    }

    private func offered(_ index: Int) -> (number: Int64, unit: Int)? {
        let unit = units[index]
        guard unit.isWanted, !unit.isHeld, unit.underWay == 0, unit.waitsFor == 0 else { return nil }
        return nextNumber(index).map { ($0, index) }
    }

    private mutating func holdBack(_ number: Int64) {
        var found = Found()
        for index in units(heldBackWith: number, &found) {
            units[index].isHeld = true
            if let next = nextNumber(index) { removeReady(next) }
        }
    }

    /// What a search has found so far, so that nothing is looked at twice.
    package struct Found {
        fileprivate var units: Set<Int> = []
        fileprivate var groups: Set<Int32> = []

        package init() {}
    }

    /// What would not be left any more if an operation was not taken, but for what was found before.
    package func left(behind number: Int64, _ found: inout Found) -> [Int64] {
        units(heldBackWith: number, &found)
            .flatMap { graph.units[$0].filter { !isBegun[Int($0)] }.map { graph.numbers[Int($0)] } }
    }

    /// What comes after an operation, and the later groups that changed what is held back.
    private func units(heldBackWith number: Int64, _ found: inout Found) -> [Int] {
        guard let first = unit(of: number) else { return [] }
        var (pending, heldBack): ([Int], [Int]) = ([first], [])
        while let index = pending.popLast() {
            guard !units[index].isHeld, found.units.insert(index).inserted else { continue }
            heldBack.append(index)
            pending += graph.successors[index].lazy.map { Int($0) }
            for member in graph.units[index] {
                for group in graph.laterGroups[Int(member)] where found.groups.insert(group).inserted {
                    pending += graph.firstChanged[Int(group)].lazy.map { Int(graph.unitOf[Int($0)]) }
                }
            }
        }
        return heldBack
    }
}
