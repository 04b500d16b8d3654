public import ConformanceRunner

/// Makes a program that judges a remote: `await RemoteConformanceMain.run(MyHarness())` is all it needs to do.
public enum RemoteConformanceMain {
    /// Does what the program's arguments say, and ends the program.
    ///
    /// The options are explained by `--help`; the exit status is 0 when all rules hold, 1 when one is broken, 64 for
    /// arguments that make no sense. The program starts itself again, because rules are run where a crash or a hang
    /// does no harm: nothing that must not happen twice may come before this call.
    public static func run(_ harness: any RemoteHarness) async -> Never {
        await ConformanceOptions.runProgram { await run(harness, $0) }
    }

    /// Does what the options say, for programs that read their arguments themselves.
    ///
    /// - Returns: The status to exit with at once.
    public static func run(_ harness: any RemoteHarness, _ options: ConformanceOptions) async -> Int32 {
        await RemoteRules.suite.main(RemoteSubject(harness), options)
    }
}
