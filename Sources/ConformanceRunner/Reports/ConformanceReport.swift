internal import Foundation

/// What a run found.
public struct ConformanceReport: Sendable {
    /// The version of the rules and of this report's form. It rises when a rule or a member changes its meaning.
    public static let version = 3

    /// What was judged.
    public let subject: String
    /// The capabilities it declares.
    public let capabilities: Set<String>
    /// What random numbers started with.
    public let seed: UInt64
    /// How long the run took.
    public let seconds: Double
    /// The results, in the order of the rules.
    public internal(set) var results: [RuleResult]
    /// What was found out about the subject that is neither right nor wrong, such as the size of its pages.
    public let properties: [SubjectProperty]
    /// Known deviations that do not occur any more: they are to be removed.
    public internal(set) var expiredDeviations: [Deviation] = []

    /// Makes a report.
    public init(
        subject: String,
        capabilities: Set<String>,
        seed: UInt64,
        seconds: Double,
        results: [RuleResult],
        properties: [SubjectProperty] = []
    ) {
        self.subject = subject
        self.capabilities = capabilities
        self.seed = seed
        self.seconds = seconds
        self.results = results
        self.properties = properties
    }

    /// Whether no rule is broken that the subject must keep: every required one, and those of what it declares; no known
    /// deviation has expired; and something was judged at all.
    public var isPassed: Bool { broken.isEmpty && expiredDeviations.isEmpty && !judgesNothing }

    /// Whether no rule could be applied, so that the report says nothing about the subject.
    public var judgesNothing: Bool { results.allSatisfy { $0.outcome.status == "notApplicable" } }

    /// The rules that are broken.
    public var broken: [RuleResult] { results.filter(\.isBroken) }

    /// The rules that were not run, with the reason. None is left out silently.
    public var notApplicable: [RuleResult] { results.filter { $0.outcome.status == "notApplicable" } }

    /// How many results have the given status, as the JSON says it: a rule that need not be kept is `noted`, not `failed`.
    public func count(_ status: String) -> Int { results.count { $0.reportedStatus == status } }

    /// The report in a format.
    public func text(_ format: ConformanceOptions.Format) throws -> String {
        switch format {
        case .text: plainText
        case .json: try json
        case .junit: junit
        case .markdown: markdown
        }
    }

    /// `97 passed, 3 not applicable, 1 failed`.
    var summary: String {
        func text(_ count: Int, _ words: String) -> String? { count == 0 ? nil : "\(count) \(words)" }
        let broken = ["failed", "crashed", "timedOut"]
            .map { status in
                text(
                    results.count { $0.isBroken && $0.outcome.status == status },
                    status == "timedOut" ? "timed out" : status
                )
            }
        let rest = [
            text(notApplicable.count, "not applicable"),
            text(results.count { $0.knownDeviation != nil }, "known to deviate"),
            text(results.count { $0.verdict == "noted" }, "noted"),
            text(expiredDeviations.count, "expired"),
        ]
        return (["\(count("passed")) passed"] + rest + broken).compactMap { $0 }.joined(separator: ", ")
    }

    var declared: String { capabilities.isEmpty ? "none" : capabilities.sorted().joined(separator: ", ") }

    var duration: String { String(format: "%.1f s", seconds) }

    var chapters: [(chapter: Chapter, results: [RuleResult])] {
        var chapters: [(chapter: Chapter, results: [RuleResult])] = []
        for result in results {
            if let index = chapters.firstIndex(where: { $0.chapter == result.rule.chapter }) {
                chapters[index].results.append(result)
            } else {
                chapters.append((result.rule.chapter, [result]))
            }
        }
        return chapters
    }

    private var plainText: String {
        let count = "\(results.count) rule\(results.count == 1 ? "" : "s")"
        var lines = ["\(subject): \(count), seed \(seed), capabilities: \(declared)".wrapped(indent: 2)]
        for (chapter, results) in chapters {
            let broken = results.count { $0.isBroken }
            let passed = results.count { $0.outcome == .passed }
            let skipped = results.count { $0.outcome.status == "notApplicable" }
            let accepted = results.count { $0.differs && !$0.isBroken }
            let words = [
                "\(passed) hold", broken == 0 ? nil : "\(broken) BROKEN", accepted == 0 ? nil : "\(accepted) differ",
                skipped == 0 ? nil : "\(skipped) not applicable",
            ]
            let name = chapter.id.padding(toLength: 14, withPad: " ", startingAt: 0)
            let seconds = results.reduce(0) { $0 + $1.seconds }
            let time = String(format: "%.1f s", seconds)
            lines.append("  \(name) \(words.compactMap { $0 }.joined(separator: ", ")), \(time)")
        }
        if let slowest { lines += ["", slowest.wrapped(after: "slowest: ", indent: 2)] }
        if !properties.isEmpty { lines.append("") }
        for property in properties {
            lines.append(property.text.wrapped(after: "\(property.name): ", indent: 4))
        }
        for (reason, ids) in reasons { lines += ["", "not applicable: \(reason)".wrapped(indent: 2)] + [ids] }
        for result in results where result.outcome.status != "passed" && result.outcome.status != "notApplicable" {
            lines += [""] + result.lines.map { $0.text.wrapped(after: $0.prefix) }
        }
        if !expiredDeviations.isEmpty { lines.append("") }
        for deviation in expiredDeviations {
            let text = "\(deviation.rule) holds; remove this deviation: \(deviation.reason)"
            lines.append(text.wrapped(after: "expired: "))
        }
        if lines.count > chapters.count + 1 + (slowest == nil ? 0 : 2) { lines.append("") }
        let verdict = judgesNothing ? "NOTHING JUDGED" : isPassed ? "PASSED" : "BROKEN"
        lines.append("\(verdict): \(summary), in \(duration)".wrapped(indent: 2))
        return lines.joined(separator: "\n") + "\n"
    }

    /// The rules that took longest, and for how long, those first that took longer than they should; nil for short runs.
    private var slowest: String? {
        let long = results.filter { $0.isSlow || $0.seconds >= 1 }.sorted { $0.seconds > $1.seconds }
        let named = long.filter(\.isSlow) + long.filter { !$0.isSlow }.prefix(5)
        guard !named.isEmpty else { return nil }
        return named.map { String(format: "%@ %.1f s", $0.rule.id, $0.seconds) + ($0.isSlow ? " (slow)" : "") }
            .joined(separator: ", ")
    }

    /// Why rules were not applied, and their ids.
    private var reasons: [(reason: String, ids: String)] {
        var reasons: [(reason: String, ids: [String])] = []
        for result in results {
            guard case .notApplicable(let reason) = result.outcome else { continue }
            if let index = reasons.firstIndex(where: { $0.reason == reason }) {
                reasons[index].ids.append(result.rule.id)
            } else {
                reasons.append((reason, [result.rule.id]))
            }
        }
        return reasons.map { ($0.reason, $0.ids.joined(separator: ", ").wrapped(after: "  ")) }
    }
}
