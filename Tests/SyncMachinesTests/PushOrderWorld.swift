import SyncMachines

/// An operation that is sent, and those that the server had taken by then.
struct SentStep {
    var number: Int64
    var taken: Set<Int64>
}

/// Groups of changes by the numbers of the operations that hold them, a push, and a judge who looks at single changes.
struct PushOrderWorld {
    let groups: [[Int64]]

    init(_ groups: [[Int64]]) { self.groups = groups }

    var numbers: Set<Int64> { Set(groups.joined()) }

    func entries(blocking blocked: Set<Int64> = []) -> [PushOrder.Entry] {
        numbers.map { number in
            let memberships = groups.indices.compactMap { group -> GroupMembership? in
                guard let first = groups[group].firstIndex(of: number),
                    let last = groups[group].lastIndex(of: number)
                else { return nil }
                return GroupMembership(
                    group: Int64(group + 1),
                    first: Int64(first),
                    last: Int64(last),
                    editCounter: 0
                )
            }
            return PushOrder.Entry(number, memberships, isBlocked: blocked.contains(number))
        }
    }

    /// Sends until nothing may be sent any more. Returns the operations in the order in which they were begun.
    func push(
        refusing refused: Set<Int64> = [],
        blocking blocked: Set<Int64> = [],
        lanes: Int = 1,
        choosing choose: (Int) -> Int = { _ in 0 }
    ) -> [SentStep] {
        var order = PushOrder(entries(blocking: blocked))
        var underWay: [Int64] = []
        var taken: Set<Int64> = []
        var sent: [SentStep] = []
        while true {
            if underWay.count < lanes, let number = order.next {
                order.start(number)
                underWay.append(number)
                sent.append(SentStep(number: number, taken: taken))
            } else if !underWay.isEmpty {
                let number = underWay.remove(at: choose(underWay.count))
                if !refused.contains(number) { taken.insert(number) }
                order.end(number, isSettled: !refused.contains(number))
            } else {
                return sent
            }
        }
    }

    /// What is wrong about what was sent, judged by the single changes in the order in which they were made.
    func wrongs(of steps: [SentStep], refusing refused: Set<Int64>, blocking blocked: Set<Int64>) -> [String] {
        var wrongs: [String] = []
        let before = reaching()
        let sent = steps.map(\.number)
        for (place, step) in steps.enumerated() {
            let (number, taken) = (step.number, step.taken)
            if blocked.contains(number) { wrongs.append("\(number) is blocked") }
            if sent[..<place].contains(number) { wrongs.append("\(number) is sent twice") }
            for earlier in numbers where before[earlier]?.contains(number) ?? false {
                let isOneWithIt = before[number]?.contains(earlier) ?? false
                // A part of a group is there without an earlier one.
                if !taken.contains(earlier), !isOneWithIt { wrongs.append("\(number) is sent before \(earlier)") }
                if isOneWithIt, refused.contains(earlier) || blocked.contains(earlier) {
                    if sent[..<place].contains(earlier) || blocked.contains(earlier) {
                        wrongs.append("\(number) is sent although \(earlier), of its unit, waits")
                    }
                }
            }
        }
        let waiting = numbers.subtracting(sent).union(refused.intersection(sent)).union(blocked)
        let notTaken = refused.intersection(sent).union(blocked)
        // What waits does so because of something that was not taken.
        var held = notTaken
        while true {
            var more = held
            for number in held { more.formUnion(before[number] ?? []) }
            for (group, changed) in groups.enumerated()
            where changed.contains(where: { isHeldByEarlier($0, group, held) }) {
                more.formUnion(changed.filter { earliest(of: $0) == group })
            }
            if more == held { break }
            held = more
        }
        for number in waiting.subtracting(held).sorted() { wrongs.append("\(number) waits for nothing") }
        return wrongs
    }

    private func isHeldByEarlier(_ number: Int64, _ group: Int, _ held: Set<Int64>) -> Bool {
        held.contains(number) && earliest(of: number) < group
    }

    private func earliest(of number: Int64) -> Int { groups.firstIndex { $0.contains(number) } ?? 0 }

    /// What comes after each operation, directly or not: every pair of changes is looked at.
    private func reaching() -> [Int64: Set<Int64>] {
        var after: [Int64: Set<Int64>] = [:]
        for changed in groups {
            for earlier in changed.indices {
                for later in changed.indices where later > earlier && changed[later] != changed[earlier] {
                    after[changed[earlier], default: []].insert(changed[later])
                }
            }
        }
        for middle in numbers {
            for number in numbers where after[number]?.contains(middle) ?? false {
                after[number, default: []].formUnion(after[middle] ?? [])
            }
        }
        return after
    }
}
