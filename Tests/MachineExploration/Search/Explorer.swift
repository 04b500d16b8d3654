import SyncMachines

/// Explores everything that can happen within bounds, breadth first: what is found first is found by the shortest way.
struct Explorer {
    let bounds: Bounds
    var devices = DeviceTable()
    var states = StateTable()

    /// How an exploration ended.
    enum Ending {
        /// Nothing is wrong; whether everything within the bounds was seen.
        case holds(isComplete: Bool)
        /// What is wrong after a path and possibly one more step.
        case violated(Violation, path: [World], last: Step?)
    }

    init(bounds: Bounds) {
        self.bounds = bounds
        let row = bounds.rowExists ? ModelRow(content: 0, version: 1) : nil
        let a = devices.number(of: Device(side: .a, row: row))
        let b = devices.number(of: Device(side: .b, row: row))
        let first = World(a: a, b: b, server: row ?? ModelRow(bits: 0), budget: bounds.budget)
        _ = states.insert(first, from: 0)
    }

    /// No way to quiet goes on from here: it is reached, or cut off by the bounds.
    private static var isQuiet: UInt32 { UInt32.max - 1 }

    /// Explores until something is wrong, or everything within the bounds was seen, or states that take more than so many
    /// steps come next.
    mutating func explore(steps deepest: Int = .max) -> Ending {
        var index = 0
        var steps: [Step] = []
        var depth = 0
        var firstOfNextDepth = 1
        while index < states.count, states.count < bounds.limit {
            if index == firstOfNextDepth {
                depth += 1
                firstOfNextDepth = states.count
                if depth >= deepest { return .holds(isComplete: false) }
            }
            let world = states.worlds[index]
            steps.removeAll(keepingCapacity: true)
            forEachStep(in: world) { steps.append($0) }
            let quiet = quietStep(in: world)
            if quiet == nil {
                let violation = checkQuiet(world)
                guard violation == .none else { return violated(violation, at: index) }
            }
            states.quietSuccessors[index] = Self.isQuiet
            for step in steps {
                guard let (next, violation) = take(step, in: world) else {
                    if step == quiet, case .local = step { return violated(.stuck, at: index) }
                    continue
                }
                guard violation == .none else { return violated(violation, at: index, step) }
                let found = states.insert(next, from: index).index
                if step == quiet { states.quietSuccessors[index] = UInt32(found) }
            }
            index += 1
        }
        return findEndless(explored: index) ?? .holds(isComplete: index == states.count)
    }

    private func violated(_ violation: Violation, at index: Int, _ last: Step? = nil) -> Ending {
        .violated(violation, path: states.path(to: index).map { states.worlds[$0] }, last: last)
    }

    /// Follows the way to quiet from every state: it must not lead back to itself.
    private mutating func findEndless(explored: Int) -> Ending? {
        var isSettled = [Bool](repeating: false, count: states.count)
        for start in 0..<explored where !isSettled[start] {
            var way: [Int] = []
            var onWay: Set<Int> = []
            var index = start
            while !isSettled[index] {
                guard onWay.insert(index).inserted else { return violated(.endless, at: index) }
                way.append(index)
                let next = states.quietSuccessors[index]
                if next == Self.isQuiet { break }
                if next == UInt32.max {
                    if let ending = followUnexplored(from: index) { return ending }
                    break
                }
                index = Int(next)
            }
            for index in way { isSettled[index] = true }
        }
        return nil
    }

    /// The way to quiet from a state whose successors were not explored.
    private mutating func followUnexplored(from index: Int) -> Ending? {
        var world = states.worlds[index]
        var path = states.path(to: index).map { states.worlds[$0] }
        for _ in 0..<300 {
            guard let step = quietStep(in: world) else {
                let violation = checkQuiet(world)
                return violation == .none ? nil : .violated(violation, path: path, last: nil)
            }
            guard let (next, violation) = take(step, in: world) else {
                if case .local = step { return .violated(.stuck, path: path, last: nil) }
                return nil
            }
            guard violation == .none else { return .violated(violation, path: path, last: step) }
            world = next
            path.append(next)
        }
        return .violated(.endless, path: path, last: nil)
    }
}
