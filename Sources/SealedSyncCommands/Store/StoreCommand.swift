internal import CommandArguments
internal import SealedSync

/// `sealedsync store`: looks after a store as a whole.
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Look after an encrypted store: check it, back it up, make it smaller, destroy it.",
        discussion: """
            Every action works on the store in --store DIR, whichever app made it, and needs no knowledge of its \
            tables. A store that an app has open is refused, but for what 'inspect' can see from outside. With --json \
            every action prints exactly one JSON object; without it, work that takes longer than a second shows a \
            progress bar on a terminal.

            Ctrl-C ends an action in good order: nothing was changed then. So does a kill at any instant: either the \
            old files are there or the new ones, whole.

            \(StoreOptions.unlockingHelp)
            """,
        subcommands: [
            StoreInspect.self, StoreVerify.self, StoreBackup.self, StoreCompact.self, StoreUpgrade.self,
            StoreExport.self, StoreEncrypt.self, StoreWipe.self,
        ]
    )
}

extension StoreFolder {
    /// The database, whose key the keyslot file vouches for.
    var file: StoreFile { StoreFile(databaseURL, keyIsVerified: true) }
}

/// A number of bytes for a person: `4.2 MB`.
func byteText(_ bytes: Int64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB"]
    var value = Double(bytes)
    var unit = 0
    while value >= 1_000, unit < units.count - 1 {
        value /= 1_000
        unit += 1
    }
    let tenths = Int64((value * 10).rounded())
    return unit == 0 ? "\(bytes) \(bytes == 1 ? "byte" : "bytes")" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
}
