internal import Foundation
internal import SeededNumbers
package import SyncContract

/// Devices with the real engine, a server and a hostile network, played from a script.
package struct Simulation: Sendable {
    /// How a run ended.
    package struct Outcome: Sendable, Hashable {
        /// What went wrong; empty when nothing did.
        package var failures: [String]
        package var requests: Int
        /// What was played.
        package var script: Script
        /// What happened, when it was to be told.
        package var story: [String]
    }

    /// Makes an empty store.
    package typealias StoreMaker = @Sendable (StoreSchema) -> any SyncContextDataSource

    /// Makes what a store becomes that is opened with other tables.
    package typealias StoreMigrator =
        @Sendable (any SyncContextDataSource, StoreSchema) async throws -> any SyncContextDataSource

    private let makeStore: StoreMaker
    private let migrate: StoreMigrator?

    package init(migrate: StoreMigrator? = nil, makeStore: @escaping StoreMaker) {
        self.makeStore = makeStore
        self.migrate = migrate
    }

    /// Plays what a seed begins, until so many requests were sent, and what follows when the network heals: fifty
    /// requests in all, and more.
    package func run(seed: UInt64, tellsStory: Bool = false) throws -> Outcome {
        Self.run(seed: seed, in: try world(seed, tellsStory))
    }

    /// Plays what a seed begins on stores that are there: empty ones, as many as ``WorldSettings/deviceCount`` says.
    package static func run(seed: UInt64, stores: [any SyncContextDataSource]) -> Outcome {
        run(seed: seed, in: World(WorldSettings(seed: seed), stores: stores, migrate: nil, tellsStory: false))
    }

    private static func run(seed: UInt64, in world: World) -> Outcome {
        let requests = 46
        var script = Script(seed: seed)
        var random = SeededGenerator(seed: seed &+ 2)
        while world.requestCount < requests, world.failures.isEmpty, script.moves.count < 40 * requests {
            let move = Move(using: &random)
            script.moves.append(move)
            world.play(move)
        }
        return end(world, script)
    }

    /// Plays a script, and what follows when the network heals.
    package func run(_ script: Script, tellsStory: Bool = false) throws -> Outcome {
        let world = try world(script.seed, tellsStory)
        for move in script.moves where world.failures.isEmpty { world.play(move) }
        return Self.end(world, script)
    }

    private func world(_ seed: UInt64, _ tellsStory: Bool) throws -> World {
        let settings = WorldSettings(seed: seed)
        let schema = try settings.schema
        return World(
            settings,
            stores: (0..<settings.deviceCount).map { _ in makeStore(schema) },
            migrate: migrate,
            tellsStory: tellsStory
        )
    }

    private static func end(_ world: World, _ script: Script) -> Outcome {
        if world.failures.isEmpty { world.comeToRest() }
        world.close()
        return Outcome(
            failures: world.failures,
            requests: world.requestCount,
            script: script,
            story: world.story
        )
    }

    // MARK: The shortest way to a failure

    /// Takes out of a failing script what is not needed for a failure of its kind, playing at most so many scripts.
    private func shrunk(_ script: Script, attempts: Int) throws -> Script {
        var best = script
        var attempts = attempts
        let kind = try run(script).failures.first.map(Self.kind)
        func fails(_ candidate: Script) throws -> Bool {
            attempts -= 1
            return try run(candidate).failures.first.map(Self.kind) == kind
        }
        var size = max(1, best.moves.count / 2)
        while size >= 1, attempts > 0 {
            var start = 0
            var hasShrunk = false
            while start < best.moves.count, attempts > 0 {
                var candidate = best
                candidate.moves.removeSubrange(start..<min(start + size, best.moves.count))
                if try fails(candidate) {
                    best = candidate
                    hasShrunk = true
                } else {
                    start += size
                }
            }
            if !hasShrunk || size > 1 { size /= 2 }
        }
        for index in best.moves.indices where attempts > 0 && !best.moves[index].isCalm {
            var candidate = best
            candidate.moves[index].isCalm = true
            if try fails(candidate) { best = candidate }
        }
        return best
    }

    /// A failure without what differs from run to run: names, numbers and what is told about rows.
    package static func kind(_ failure: String) -> String {
        failure.split(separator: " ").filter { word in word.allSatisfy { $0.isLowercase || $0 == "'" } }
            .prefix(6).joined(separator: " ")
    }

    /// The report on a failing seed: what went wrong, the shortest script that was found in so many attempts, and its
    /// story.
    package func report(on outcome: Outcome, attempts: Int = 1_500) throws -> String {
        let script = try shrunk(outcome.script, attempts: attempts)
        let told = try run(script, tellsStory: true)
        return """
            seed \(script.seed), \(outcome.script.moves.count) moves, of which \(script.moves.count) are needed: \
            \(told.failures.first ?? "it fails no more")
            \(told.story.map { "    \($0)" }.joined(separator: "\n"))
            """
    }
}
