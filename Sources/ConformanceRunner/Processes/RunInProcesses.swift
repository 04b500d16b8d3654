internal import Foundation

#if os(Linux) || os(macOS)
extension RuleSuite {
    /// Runs the rules in a process of their own; in a new one after a rule that ended the process or did not end.
    func runInProcesses(
        subjectName: String,
        _ settings: RunSettings,
        progress: @escaping @Sendable (RuleResult) -> Void
    ) async throws -> ConformanceReport {
        let definitions = rules.map(\.definition)
        let start = Date()
        let outcome = try await onThread {
            var supervisor = Supervisor(waiting: definitions, settings: settings, progress: progress)
            try supervisor.run()
            return (supervisor.capabilities ?? [], supervisor.results)
        }
        return ConformanceReport(
            subject: subjectName,
            capabilities: Set(outcome.0),
            seed: settings.seed,
            seconds: Date().timeIntervalSince(start),
            results: outcome.1
        )
    }
}

/// Follows worker processes until every rule has a result.
private struct Supervisor {
    var waiting: [RuleDefinition]
    let settings: RunSettings
    let progress: @Sendable (RuleResult) -> Void
    var capabilities: [String]?
    var results: [RuleResult] = []

    mutating func run() throws {
        while !waiting.isEmpty {
            let before = waiting.count
            try runWorker()
            guard waiting.count < before || waiting.isEmpty else {
                throw RunFailure("the process that runs the rules ends before it begins; run one rule in a debugger")
            }
        }
    }

    private mutating func runWorker() throws {
        let worker = try WorkerProcess(
            WorkerTask(rules: waiting.map(\.id), capabilities: capabilities, settings: settings)
        )
        var current: (rule: RuleDefinition, start: Date)?
        // Between rules there is nothing that hangs, but processes start slowly on a busy machine.
        let pause = max(30, settings.secondsPerRule)
        var time = RunningTime(seconds: pause, reportedWork: 0)
        while true {
            switch try worker.readLine(within: &time) {
            case .line(let line):
                guard let event = try WorkerEvent(line: line) else {
                    FileHandle.standardError.write(Data((line + "\n").utf8))
                    continue
                }
                if let failure = event.failure {
                    _ = worker.waitUntilExit()
                    throw RunFailure("no capabilities are known, because the harness failed: \(failure)")
                }
                if let declared = event.capabilities { capabilities = declared }
                if let work = event.work { time.reportedWork = work }
                if let id = event.started, let rule = waiting.first(where: { $0.id == id }) {
                    current = (rule, Date())
                    // The worker gives up a rule itself when its threads are free to do so; that deserves a moment.
                    time = RunningTime(seconds: settings.secondsPerRule + 3, reportedWork: time.reportedWork)
                }
                if let finished = event.finished, let rule = current?.rule {
                    finish(finished.result(rule))
                    current = nil
                    time = RunningTime(seconds: pause, reportedWork: time.reportedWork)
                }
            case .end:
                let end = worker.waitUntilExit()
                if let current { finish(current, .crashed(end ?? "the process ended itself with status 0")) }
                if current == nil, capabilities == nil {
                    throw RunFailure("the harness could not be asked for capabilities: \(end ?? "the process ended")")
                }
                return
            case .timeout:
                worker.kill()
                _ = worker.waitUntilExit()
                guard let current else { throw RunFailure("the harness does not answer; nothing could be run") }
                return finish(current, .timedOut(seconds: settings.secondsPerRule))
            }
        }
    }

    private mutating func finish(_ current: (rule: RuleDefinition, start: Date), _ outcome: RuleOutcome) {
        finish(
            RuleResult(
                rule: current.rule,
                outcome: outcome,
                checkedWithoutCapability: false,
                seconds: Date().timeIntervalSince(current.start),
                seed: settings.seed
            )
        )
    }

    private mutating func finish(_ result: RuleResult) {
        waiting.removeAll { $0.id == result.rule.id }
        results.append(result)
        progress(result)
    }
}
#endif
