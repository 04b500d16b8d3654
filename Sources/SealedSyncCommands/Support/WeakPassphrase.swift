internal import SealedSync

/// Warns of a new passphrase that is soon guessed. It is taken all the same: whose data it is decides what is enough.
enum WeakPassphrase {
    static func warn(_ passphrase: SecretBytes) {
        let estimate = PassphraseUnlocker.estimate(of: passphrase)
        guard estimate.isWeak else { return }
        Console.writeError(
            sentence:
                "warning: whoever has the keyslot file and \(PassphraseEstimate.cores) processor cores guesses a passphrase of "
                + "this length, thought up by a person, in \(text(estimate.guessingTime)); six random words withstand that"
        )
    }

    /// A time of less than a year, in the largest unit of which there are two.
    static func text(_ seconds: Double) -> String {
        let units = [("days", 86_400.0), ("hours", 3_600), ("minutes", 60)]
        guard let (name, length) = units.first(where: { seconds >= 2 * $0.1 }) else { return "less than two minutes" }
        return "about \(Int(seconds / length)) \(name)"
    }
}
