internal import Foundation

#if os(Linux) || os(macOS)
extension RuleSuite {
    /// Does what the runner's process asked for.
    func work(on subject: Subject, _ task: WorkerTask) async throws {
        var settings = task.settings
        settings.canStartProcesses = true
        WorkerEvent.reportWork()
        if let drill = task.drill { return try await perform(drill, on: subject, settings) }
        var capabilities = task.capabilities
        if capabilities == nil {
            do {
                capabilities = try await subject.capabilities().sorted()
            } catch {
                var event = WorkerEvent()
                event.failure = brief(error)
                return try event.send()
            }
        }
        let declared = capabilities ?? []
        var event = WorkerEvent()
        event.capabilities = declared
        try event.send()
        for id in task.rules {
            guard let rule = rules.first(where: { $0.id == id }) else { continue }
            // The last resort when the runner itself has gone: a process that hangs ends some time. Generous, because
            // this clock goes on while a process is stopped.
            alarm(UInt32(settings.secondsPerRule * RunningTime.mostWork) + 3_600)
            var started = WorkerEvent()
            started.started = id
            try started.send()
            let result = await rule.run(on: subject, capabilities: Set(declared), settings)
            var finished = WorkerEvent()
            finished.finished = FinishedRule(result)
            try finished.send()
            // What was given up goes on and would hold up the rules after it: they get a process of their own.
            if case .timedOut = result.outcome { return }
        }
    }

    /// Runs a drill and then kills this process, without giving it time for anything.
    private func perform(_ drill: WorkerTask.Drill, on subject: Subject, _ settings: RunSettings) async throws {
        alarm(UInt32(settings.secondsPerRule * RunningTime.mostWork) + 3_600)
        var event = WorkerEvent()
        if let rule = rules.first(where: { $0.id == drill.rule }), let body = rule.drills[drill.name] {
            let trial = Trial(subject: subject, rule: rule.definition, settings: settings, folder: drill.folder)
            do {
                try await body(trial)
                event.failure = trial.violations.first?.description
            } catch let error as Unsupported {
                event.failure = trial.violations.first?.description
                event.unsupported = error.description
            } catch {
                event.failure = brief(error)
            }
        } else {
            event.failure = "rule '\(drill.rule)' has no drill '\(drill.name)'"
        }
        if event.failure != nil || event.unsupported != nil { try event.send() }
        killThisProcess()
    }
}
#endif
