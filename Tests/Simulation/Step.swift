internal import SeededNumbers

/// Something that may begin: an action of a user, of an app, of somebody at the server, or of fate.
///
/// To try what is new, add a step to one of the lists: a name, how often it comes, and what it does.
struct Step: Sendable {
    let name: String
    /// How often it comes, beside the others.
    let weight: Int
    /// Whether it is played in a world. Where something new is not, everything is as it was without it.
    var isPlayed: @Sendable (WorldSettings) -> Bool = { _ in true }
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
            let body = prepare(device, &random)
            let usesOther = world.settings.hasTwoContexts && random.chance(1, of: 2)
            device.begin(name) { device in
                try await Device.$usesOtherContext.withValue(usesOther) { try await body(device) }
            }
        }
    }

    private static let all: [Step] = edits + syncs + purges + decisions + resets + fates + unfitRows

    static func all(in settings: WorldSettings) -> [Step] { all.filter { $0.isPlayed(settings) } }

    /// The same step, in some worlds only.
    func played(where isPlayed: @escaping @Sendable (WorldSettings) -> Bool) -> Step {
        var step = self
        step.isPlayed = isPlayed
        return step
    }

    static func any(of steps: [Step], using random: inout SeededGenerator) -> Step {
        var number = random.below(steps.reduce(0) { $0 + $1.weight })
        for step in steps {
            number -= step.weight
            if number < 0 { return step }
        }
        return steps[0]
    }

    func begin(in world: World, _ random: inout SeededGenerator) { begin(world, &random) }
}
