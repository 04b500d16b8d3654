internal import SeededNumbers

/// Something that may begin: an action of a user, of an app, of somebody at the server, or of fate.
///
/// To try what is new, add a step to one of the lists: a name, how often it comes, and what it does.
struct Step: Sendable {
    let name: String
    /// How often it comes, beside the others.
    let weight: Int
    let begin: @Sendable (World, inout SeededGenerator) -> Void

    init(_ name: String, _ weight: Int, begin: @escaping @Sendable (World, inout SeededGenerator) -> Void) {
        self.name = name
        self.weight = weight
        self.begin = begin
    }

    /// A step of an app, which runs while others do.
    ///
    /// - Parameters:
    ///   - name: What it does, as the story tells it.
    ///   - weight: How often it comes.
    ///   - prepare: Makes its choices, and gives what is to be done.
    init(
        _ name: String,
        _ weight: Int,
        prepare: @escaping @Sendable (Device, inout SeededGenerator) -> @Sendable (Device) async throws -> Void
    ) {
        self.init(name, weight) { world, random in
            let device = random.pick(world.devices)
            // An address leads elsewhere for all that the app does.
            guard device.running.count < 3, !device.life.isLostOnTheWay else { return }
            device.begin(name, prepare(device, &random))
        }
    }

    static let all: [Step] = edits + syncs + decisions + fates

    static func any(using random: inout SeededGenerator) -> Step {
        var number = random.below(totalWeight)
        for step in all {
            number -= step.weight
            if number < 0 { return step }
        }
        return all[0]
    }

    private static let totalWeight = all.reduce(0) { $0 + $1.weight }

    func begin(in world: World, _ random: inout SeededGenerator) { begin(world, &random) }
}
