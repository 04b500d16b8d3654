public import ConformanceRunner

/// Runs the rules for servers.
public enum ServerConformance {
    /// Runs rules against a server, one after the other, and deletes the rows they made.
    ///
    /// When the server cannot be reached any more after a rule, the rules after it are reported as not applicable. When
    /// the calling task is cancelled, what is under way ends and the rows are deleted.
    ///
    /// - Parameters:
    ///   - suite: The rules, of the protocol that the subject speaks.
    ///   - subject: The server.
    ///   - settings: How.
    ///   - progress: Told every result as it comes.
    /// - Returns: The report, and the ids of rows that could not be deleted.
    /// - Throws: ``ServerUnavailable``, which says why nothing could be run, such as a server that cannot be reached;
    ///   ``ServerRunCancelled`` when the task was cancelled.
    public static func run(
        _ suite: RuleSuite<ServerSubject>,
        on subject: ServerSubject,
        _ settings: RunSettings = RunSettings(),
        progress: (RuleResult) -> Void = { _ in }
    ) async throws -> (report: ConformanceReport, leftRows: [String]) {
        let clock = ContinuousClock()
        let start = clock.now
        let outcome: Result<(Set<String>, [RuleResult]), any Error>
        do {
            outcome = .success(
                try await withTaskCancellationHandler {
                    try await runRules(suite, subject, settings, progress)
                } onCancel: {
                    subject.stop()
                }
            )
        } catch {
            outcome = .failure(error)
        }
        let leftRows = await subject.deleteRows()
        if case .failure(let error) = outcome, error is CancellationError {
            throw ServerRunCancelled(leftRows: leftRows)
        }
        let (capabilities, results) = try outcome.get()
        let profile = try await subject.profile()
        let report = ConformanceReport(
            subject: subject.name,
            capabilities: capabilities,
            seed: settings.seed,
            seconds: (clock.now - start) / .seconds(1),
            results: results,
            properties: subject.properties
        )
        .accepting(profile.server.deviations(in: subject.client.serverProtocol), expire: false)
        return (report, leftRows)
    }

    private static func runRules(
        _ suite: RuleSuite<ServerSubject>,
        _ subject: ServerSubject,
        _ settings: RunSettings,
        _ progress: (RuleResult) -> Void
    ) async throws -> (Set<String>, [RuleResult]) {
        let capabilities = try await subject.capabilities()
        var results: [RuleResult] = []
        var lastRule: String?
        for rule in suite.rules {
            try Task.checkCancellation()
            if let lastRule {
                results.append(.notRun(rule, "the server has not answered any more since the rule '\(lastRule)'"))
                continue
            }
            let result = await rule.run(on: subject, capabilities: capabilities, settings)
            try Task.checkCancellation()
            progress(result)
            results.append(result)
            if subject.takeLostResponses(), !(await subject.isReachable()) { lastRule = rule.id }
        }
        return (capabilities, results)
    }
}

/// A run was cancelled, and its rows were deleted.
public struct ServerRunCancelled: Error, Sendable {
    /// The ids of rows that could not be deleted.
    public let leftRows: [String]
}

extension RuleResult {
    /// A rule that there was nothing to run on.
    fileprivate static func notRun(_ rule: ServerRule, _ reason: String) -> RuleResult {
        RuleResult(rule: rule.definition, outcome: .notApplicable(reason))
    }
}
