internal import CommandArguments
internal import DatasyncEmulator

/// What real databases do, so that clients can be tried against it.
struct EmulatorStoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Show a write up to so many milliseconds after the stamp it got, so that others overtake it. Its own answer \
            waits as long. (default: 0)
            """,
            valueName: "ms"
        )
    )
    var commitDelay: Int?

    @Option(help: "How fine stamps are kept: ms, us or 100ns. Answers show milliseconds, filters compare all of it.")
    var stamps = "ms"

    @Option(help: "A number from which random choices start, so that they repeat.")
    var seed: UInt64?

    func validate() throws {
        guard commitDelay.map({ (0...60_000).contains($0) }) ?? true else {
            throw ValidationError("--commit-delay is 0 to 60000.")
        }
        guard StoreBehaviour.StampResolution(rawValue: stamps) != nil else {
            throw ValidationError("--stamps is ms, us or 100ns.")
        }
    }

    var behaviour: StoreBehaviour {
        var behaviour = StoreBehaviour()
        behaviour.commitDelay = .milliseconds(commitDelay ?? 0)
        behaviour.stamps = StoreBehaviour.StampResolution(rawValue: stamps) ?? .milliseconds
        behaviour.seed = seed
        return behaviour
    }
}
