/// The states that were found, in the order in which they were found, each with the one that it was found from.
struct StateTable {
    private(set) var worlds: [World] = []
    private(set) var parents: [UInt32] = []
    /// Where the way to quiet goes on from a state.
    var quietSuccessors: [UInt32] = []
    /// Open addressing: positions in `worlds` plus 1, or 0.
    private var slots = [UInt32](repeating: 0, count: 1 << 16)

    var count: Int { worlds.count }

    /// The number of a state, and whether it is new.
    mutating func insert(_ world: World, from parent: Int) -> (index: Int, isNew: Bool) {
        if worlds.count * 10 > slots.count * 6 { grow() }
        var position = Int(truncatingIfNeeded: world.mixed) & (slots.count - 1)
        while slots[position] != 0 {
            let index = Int(slots[position]) - 1
            if worlds[index] == world { return (index, false) }
            position = (position + 1) & (slots.count - 1)
        }
        let index = worlds.count
        slots[position] = UInt32(index + 1)
        worlds.append(world)
        parents.append(UInt32(parent))
        quietSuccessors.append(UInt32.max)
        return (index, true)
    }

    private mutating func grow() {
        var larger = [UInt32](repeating: 0, count: slots.count * 2)
        for index in worlds.indices {
            var position = Int(truncatingIfNeeded: worlds[index].mixed) & (larger.count - 1)
            while larger[position] != 0 { position = (position + 1) & (larger.count - 1) }
            larger[position] = UInt32(index + 1)
        }
        slots = larger
    }

    /// The states that lead to one, the first one first.
    func path(to index: Int) -> [Int] {
        var path = [index]
        while let first = path.first, first != 0 { path.insert(Int(parents[first]), at: 0) }
        return path
    }
}
