/// All rules of one contract.
public struct RuleSuite<Subject: ConformanceSubject>: Sendable {
    /// What the rules judge, in the plural: `stores`.
    public let title: String

    /// The rules, in the order in which they are run and listed.
    public let rules: [Rule<Subject>]

    /// What prints the list of the rules as a page.
    public let listCommand: String

    /// Makes a suite.
    public init(
        _ title: String,
        _ rules: [Rule<Subject>],
        listedBy listCommand: String = "sealedsync conform --list --markdown"
    ) {
        self.title = title
        self.rules = rules
        self.listCommand = listCommand
    }

    /// The chapters, in the order of their first rules.
    public var chapters: [Chapter] {
        var chapters: [Chapter] = []
        for rule in rules where !chapters.contains(rule.definition.chapter) {
            chapters.append(rule.definition.chapter)
        }
        return chapters
    }

    /// The rules of the given chapters or with the given ids; all when neither is given.
    ///
    /// - Throws: ``UsageError`` for a chapter or an id that does not exist.
    public func selecting(chapters: [String] = [], ids: [String] = []) throws -> RuleSuite {
        for chapter in chapters where !self.chapters.contains(where: { $0.id == chapter }) {
            throw UsageError(
                "There is no chapter '\(chapter)'; choose from \(self.chapters.map(\.id).joined(separator: ", "))."
            )
        }
        for id in ids where !rules.contains(where: { $0.id == id }) {
            throw UsageError("There is no rule '\(id)'; '--list' shows all rules.")
        }
        guard !chapters.isEmpty || !ids.isEmpty else { return self }
        return RuleSuite(
            title,
            rules.filter { ids.contains($0.id) || chapters.contains($0.definition.chapter.id) },
            listedBy: listCommand
        )
    }

    /// Runs all rules in this process, one after the other, as apps and test frameworks do.
    ///
    /// Rules that kill processes are reported as not applicable. See ``Rule/run(on:capabilities:_:)`` for what hangs.
    ///
    /// - Parameters:
    ///   - subject: What is judged.
    ///   - settings: How.
    ///   - progress: Told every result as it comes.
    /// - Returns: The report.
    /// - Throws: What the subject throws when it is asked for its capabilities.
    public func run(
        on subject: Subject,
        _ settings: RunSettings = RunSettings(),
        progress: (RuleResult) -> Void = { _ in }
    ) async throws -> ConformanceReport {
        let clock = ContinuousClock()
        let start = clock.now
        let capabilities = try await subject.capabilities()
        var results: [RuleResult] = []
        for rule in rules {
            let result = await rule.run(on: subject, capabilities: capabilities, settings)
            progress(result)
            results.append(result)
        }
        return ConformanceReport(
            subject: subject.name,
            capabilities: capabilities,
            seed: settings.seed,
            seconds: (clock.now - start) / .seconds(1),
            results: results
        )
    }
}

/// The program was started with arguments that make no sense.
public struct UsageError: Error, Sendable, CustomStringConvertible {
    /// What is wrong and what to do.
    public let description: String

    /// Says what is wrong.
    public init(_ description: String) { self.description = description }
}
