internal import Foundation
internal import Synchronization

extension Rule {
    /// Runs this rule in this process.
    ///
    /// A rule that comes no further is given up after ``RunSettings/secondsPerRule``. That cannot work when it blocks the
    /// threads that tasks run on: such rules are for ``RuleSuite/main(_:_:)``, which runs them in another process.
    ///
    /// - Parameters:
    ///   - subject: What is judged.
    ///   - capabilities: What the subject declares.
    ///   - settings: How.
    /// - Returns: What became of it. Nothing is thrown: an error breaks the rule.
    public func run(on subject: Subject, capabilities: Set<String>, _ settings: RunSettings) async -> RuleResult {
        let clock = ContinuousClock()
        let start = clock.now
        let lacksCapability = definition.level.capability.map { !capabilities.contains($0) } ?? false
        func result(_ outcome: RuleOutcome, usedRandom: Bool = false) -> RuleResult {
            RuleResult(
                rule: definition,
                outcome: outcome,
                checkedWithoutCapability: lacksCapability && bodyWithoutCapability != nil,
                seconds: (clock.now - start) / .seconds(1),
                seed: usedRandom ? settings.seed : nil,
                isSlow: (clock.now - start) / .seconds(1) > settings.secondsPerRule
            )
        }
        guard let checked = lacksCapability ? bodyWithoutCapability : body else {
            return result(.notApplicable("'\(definition.level.capability ?? "")' is not declared"))
        }
        let folder: TrialFolder
        do {
            folder = try TrialFolder(in: settings.folder)
        } catch {
            return result(.notApplicable("no folder can be made in '\(settings.folder)': \(error)"))
        }
        defer { folder.remove() }
        let trial = Trial(subject: subject, rule: definition, settings: settings, folder: folder.path)
        // Only in a process of its own does a rule alone use the processor.
        let outcome = await withDeadline(seconds: settings.secondsPerRule, countsWork: settings.canStartProcesses) {
            await Self.judge(trial, checked)
        }
        return result(outcome ?? .timedOut(seconds: settings.secondsPerRule), usedRandom: trial.usedRandom)
    }

    private static func judge(_ trial: Trial<Subject>, _ body: @escaping Body) async -> RuleOutcome {
        var outcome: RuleOutcome?
        do {
            try await body(trial)
        } catch let error as Unsupported {
            outcome = .notApplicable(error.description)
        } catch {
            trial.report("a step of: \(trial.rule.procedure)", expected: "no error", got: brief(error))
        }
        await trial.cleanUp()
        let (violations, notes) = (trial.violations, trial.notes)
        if !violations.isEmpty { return .failed(violations) }
        return outcome ?? (notes.isEmpty ? .passed : .noted(notes))
    }
}

/// Waits for a closure, nil when it took too long; what it does goes on then, and nobody looks at it any more.
///
/// Where work counts, a closure that uses the processor does not take too long: see ``RunningTime``.
///
/// The time is taken outside of the threads that tasks and their timers run on: a rule may hold those up. It is the time
/// in which this process ran: see ``RunningTime``.
func withDeadline<Value: Sendable>(
    seconds: Double,
    countsWork: Bool,
    _ body: @escaping @Sendable () async -> Value
) async -> Value? {
    let settle = FirstAnswer<Value>()
    return await withCheckedContinuation { continuation in
        settle.wait(continuation)
        let task = Task.detached { settle.answer(await body()) }
        settle.giveUp(after: RunningTime(seconds: seconds, countsWork: countsWork)) { task.cancel() }
    }
}

/// Resumes a continuation with the first of several answers.
private final class FirstAnswer<Value: Sendable>: Sendable {
    private let continuation = Mutex<CheckedContinuation<Value?, Never>?>(nil)

    func wait(_ continuation: CheckedContinuation<Value?, Never>) { self.continuation.withLock { $0 = continuation } }

    @discardableResult
    func answer(_ value: Value?) -> Bool {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: value)
        return waiting != nil
    }

    /// Answers nil when the time has passed before there was an answer.
    func giveUp(after time: RunningTime, _ then: @escaping @Sendable () -> Void) {
        guard continuation.withLock({ $0 != nil }) else { return }
        var time = time
        guard !time.isOver() else {
            if answer(nil) { then() }
            return
        }
        DispatchQueue.global()
            .asyncAfter(deadline: .now() + RunningTime.step) { [time] in self.giveUp(after: time, then) }
    }
}
