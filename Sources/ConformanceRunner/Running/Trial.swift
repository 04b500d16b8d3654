internal import Foundation
internal import Synchronization

/// One run of one rule: what the rule judges, what it may use, and where it says what is wrong.
public final class Trial<Subject: ConformanceSubject>: Sendable {
    /// What is judged.
    public let subject: Subject

    /// The rule.
    public let rule: RuleDefinition

    /// The settings of the run.
    public let settings: RunSettings

    /// A folder of this trial's own, which is removed afterwards.
    public let folder: String

    private struct State {
        var violations: [Violation] = []
        var notes: [Violation] = []
        var cleanups: [@Sendable () async -> Void] = []
        var usedRandom = false
    }

    private let state = Mutex(State())

    init(subject: Subject, rule: RuleDefinition, settings: RunSettings, folder: String) {
        self.subject = subject
        self.rule = rule
        self.settings = settings
        self.folder = folder
    }

    /// Random numbers, the same ones whenever this rule is run with the same seed.
    public func random() -> SeededRandom {
        state.withLock { $0.usedRandom = true }
        return SeededRandom(seed: settings.seed, for: rule.id)
    }

    /// Whether the rule asked for random numbers, so that a report names the seed.
    var usedRandom: Bool { state.withLock { $0.usedRandom } }

    /// What was wrong so far.
    var violations: [Violation] { state.withLock { $0.violations } }

    /// How many things were said to be wrong so far, a few at most.
    package var violationCount: Int { violations.count }

    /// What was otherwise than the rule says so far, and may be.
    var notes: [Violation] { state.withLock { $0.notes } }

    /// Says what is wrong. The rule goes on: everything it finds is reported.
    ///
    /// - Parameters:
    ///   - input: What was done.
    ///   - expected: What the contract promises.
    ///   - got: What came instead.
    ///   - remark: What to do about it.
    public func report(_ input: String, expected: String, got: String, remark: String? = nil) {
        state.withLock { state in
            // A rule that finds the same fault in a thousand rows has said enough after a few.
            guard state.violations.count < Self.enough else { return }
            state.violations.append(Violation(input: input, expected: expected, got: got, remark: remark))
        }
    }

    /// Says what is otherwise than the rule says, and may be: the rule is noted and not broken, unless something else is
    /// reported.
    ///
    /// - Parameters:
    ///   - input: What was done.
    ///   - expected: What the contract promises.
    ///   - got: What came instead.
    ///   - remark: Why that is no fault, and what users of the subject must do.
    public func note(_ input: String, expected: String, got: String, remark: String) {
        state.withLock { state in
            guard state.notes.count < Self.enough else { return }
            state.notes.append(Violation(input: input, expected: expected, got: got, remark: remark))
        }
    }

    private static var enough: Int { 5 }

    /// Has something done after the rule, whatever becomes of it, the last thing first.
    public func afterwards(_ cleanup: @escaping @Sendable () async -> Void) {
        state.withLock { $0.cleanups.append(cleanup) }
    }

    func cleanUp() async {
        for cleanup in state.withLock({ $0.cleanups.reversed() }) { await cleanup() }
    }

    /// Runs a drill of this rule in a process of its own, which is killed by SIGKILL at the drill's end, and waits.
    ///
    /// The drill works in the same ``folder``. It may end its process itself, earlier.
    ///
    /// - Throws: ``Unsupported`` where the kit cannot start processes, and when the drill throws it; ``DrillFailure`` when
    ///   the drill did not come to its end.
    public func runKilled(_ drill: String) async throws {
        guard settings.canStartProcesses else {
            throw Unsupported("this rule kills processes; run it with ConformanceMain or the tool")
        }
        try await WorkerProcess.runDrill(drill, of: rule.id, in: folder, settings)
    }
}

extension Trial {
    /// Reports when something is not as it must be. The texts are only made then.
    public func expect(
        _ isRight: Bool,
        _ input: @autoclosure () -> String,
        expected: @autoclosure () -> String,
        got: @autoclosure () -> String
    ) {
        if !isRight { report(input(), expected: expected(), got: got()) }
    }

    /// Reports when two values differ.
    public func expect<Value: Equatable>(_ got: Value, equals expected: Value, _ input: @autoclosure () -> String) {
        if got != expected { report(input(), expected: brief(expected), got: brief(got)) }
    }
}

/// A value as text that stays short.
public func brief(_ value: some Any) -> String {
    let text = String(describing: value)
    // By scalars: a single character may be as long as its sender likes.
    let start = text.unicodeScalars.prefix(300)
    return start.endIndex == text.endIndex ? text : "\(String(start))… (\(text.utf8.count) bytes)"
}

/// A rule needs something that is not there, such as a harness's function that the author did not write.
public struct Unsupported: Error, Sendable, CustomStringConvertible {
    /// What is missing, and what to do.
    public let description: String

    /// Says what is missing.
    public init(_ description: String) { self.description = description }
}

/// A process that a rule needed did not do its part.
public struct DrillFailure: Error, Sendable, CustomStringConvertible {
    /// What the process said.
    public let description: String

    /// Says what went wrong.
    public init(_ description: String) { self.description = description }
}
