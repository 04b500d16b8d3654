internal import CommandArguments
internal import DatasyncEmulator

/// What real databases do, so that clients can be tried against it.
struct EmulatorStoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Show a write up to so many milliseconds after the stamp it got, so that others overtake it. Its own answer \
            waits as long; what another one changes meanwhile is a conflict, also without If-Match. (default: 0)
            """,
            valueName: "ms"
        )
    )
    var commitDelay: Int?

    @Option(help: "How fine stamps are kept: ms, us or 100ns. Answers show milliseconds, filters compare all of it.")
    var stamps = "ms"

    @Flag(
        help: ArgumentHelp(
            """
            Let two writes of one version both succeed, so that one is lost. Takes a --commit-delay, without which writes \
            do not meet; it is 50 then.
            """
        )
    )
    var noConcurrencyToken = false

    @Option(help: "Where an order puts nulls: first or last.")
    var nulls = "first"

    @Option(help: "How texts and ids compare: binary, or nocase, which ignores the case of the letters A to Z.")
    var collation = "binary"

    @Flag(
        help: ArgumentHelp(
            """
            Answer writes with the row as sent, but keep numbers with two decimals and texts without spaces at their end, \
            which shows in later reads under the same version.
            """
        )
    )
    var answerAsSent = false

    @Flag(
        name: .customLong("assign-ids"),
        help: "Give every new row an id of the server's, whatever id it is sent with."
    )
    var assignIDs = false

    @Option(help: "A number from which random choices start, so that they repeat.")
    var seed: UInt64?

    func validate() throws {
        guard commitDelay.map({ (0...60_000).contains($0) }) ?? true else {
            throw ValidationError("--commit-delay is 0 to 60000.")
        }
        guard !noConcurrencyToken || commitDelay != 0 else {
            throw ValidationError(
                "--no-concurrency-token takes a --commit-delay above 0; without it writes do not meet."
            )
        }
        guard ["first", "last"].contains(nulls) else { throw ValidationError("--nulls is first or last.") }
        guard ["binary", "nocase"].contains(collation) else {
            throw ValidationError("--collation is binary or nocase.")
        }
        guard StoreBehaviour.StampResolution(rawValue: stamps) != nil else {
            throw ValidationError("--stamps is ms, us or 100ns.")
        }
    }

    var behaviour: StoreBehaviour {
        var behaviour = StoreBehaviour()
        behaviour.commitDelay = .milliseconds(commitDelay ?? (noConcurrencyToken ? 50 : 0))
        behaviour.hasConcurrencyToken = !noConcurrencyToken
        behaviour.sortsNullsLast = nulls == "last"
        behaviour.ignoresCase = collation == "nocase"
        behaviour.answersAsSent = answerAsSent
        behaviour.assignsIDs = assignIDs
        behaviour.stamps = StoreBehaviour.StampResolution(rawValue: stamps) ?? .milliseconds
        behaviour.seed = seed
        return behaviour
    }
}
