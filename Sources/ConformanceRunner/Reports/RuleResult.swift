/// What is wrong, in terms of the contract.
public struct Violation: Sendable, Hashable, Codable, CustomStringConvertible {
    /// What was done.
    public let input: String
    /// What the contract promises.
    public let expected: String
    /// What came instead.
    public let got: String
    /// Why that is no fault, or what to do about it; nil when the rest says enough.
    public let remark: String?

    init(input: String, expected: String, got: String, remark: String? = nil) {
        self.input = input
        self.expected = expected
        self.got = got
        self.remark = remark
    }

    /// Input, expected and got in three lines, and the remark in a fourth one.
    public var description: String { lines.map { $0.prefix + $0.text }.joined(separator: "\n") }

    var lines: [(prefix: String, text: String)] {
        [("input:    ", input), ("expected: ", expected), ("got:      ", got)]
            + (remark.map { [("remark:   ", $0)] } ?? [])
    }
}

/// What became of a rule.
public enum RuleOutcome: Sendable, Hashable {
    /// The rule holds.
    case passed
    /// The rule is broken.
    case failed([Violation])
    /// The subject does otherwise than the rule says, and may, for the reason in the remarks.
    case noted([Violation])
    /// The rule does not concern this subject, or could not be run here; the text says why.
    case notApplicable(String)
    /// The process ended while it ran the rule; the text says how.
    case crashed(String)
    /// The rule did not end in time.
    case timedOut(seconds: Double)

    /// The outcome as a word: `passed`, `failed`, `noted`, `notApplicable`, `crashed`, `timedOut`.
    public var status: String {
        switch self {
        case .passed: "passed"
        case .failed: "failed"
        case .noted: "noted"
        case .notApplicable: "notApplicable"
        case .crashed: "crashed"
        case .timedOut: "timedOut"
        }
    }
}

/// A rule and what became of it.
public struct RuleResult: Sendable {
    /// The rule.
    public let rule: RuleDefinition
    /// What became of it.
    public let outcome: RuleOutcome
    /// Whether the opposite was checked, because the subject does not have the rule's capability.
    public let checkedWithoutCapability: Bool
    /// How long it took.
    public let seconds: Double
    /// The seed, for a rule that uses random numbers.
    public let seed: UInt64?
    /// Whether it took longer than it should. That breaks nothing: the machine may have been busy.
    public let isSlow: Bool
    /// Why it is known and accepted that the subject does otherwise; nil when it is not, and when the rule holds.
    public internal(set) var knownDeviation: String?

    /// Makes a result.
    public init(
        rule: RuleDefinition,
        outcome: RuleOutcome,
        checkedWithoutCapability: Bool = false,
        seconds: Double = 0,
        seed: UInt64? = nil,
        isSlow: Bool = false
    ) {
        self.rule = rule
        self.outcome = outcome
        self.checkedWithoutCapability = checkedWithoutCapability
        self.seconds = seconds
        self.seed = seed
        self.isSlow = isSlow
    }

    /// Whether the subject breaks the contract: the rule failed, crashed or hung, it is one that must be kept, and that is
    /// no known deviation. A crash or a hang breaks a rule that should be kept as well.
    public var isBroken: Bool {
        guard knownDeviation == nil else { return false }
        switch (outcome, rule.level) {
        case (.passed, _), (.noted, _), (.notApplicable, _), (_, .informative), (.failed, .recommended): return false
        case (.failed, _), (.crashed, _), (.timedOut, _): return true
        }
    }

    /// The outcome as a word, by which what may be otherwise is noted, and not failed.
    var reportedStatus: String {
        if case .failed = outcome, verdict == "noted" { verdict } else { outcome.status }
    }

    /// Whether the subject does otherwise than the rule says, be that allowed or not.
    var differs: Bool {
        switch outcome {
        case .passed, .notApplicable: false
        case .failed, .noted, .crashed, .timedOut: true
        }
    }

    /// Why the subject may do otherwise, and what to do about it.
    var remarks: [String] {
        switch outcome {
        case .failed(let violations), .noted(let violations): violations.compactMap(\.remark)
        case .passed, .notApplicable, .crashed, .timedOut: []
        }
    }

    /// The result as a word for people: `broken`, `known deviation` and, for a rule that is merely informative, `noted`
    /// tell apart what differs.
    var verdict: String {
        switch outcome {
        case .passed: checkedWithoutCapability ? "holds without the capability" : "holds"
        case .notApplicable: "not applicable"
        case .failed, .noted, .crashed, .timedOut:
            knownDeviation != nil ? "known deviation" : isBroken ? outcome.status : "noted"
        }
    }
}

extension RuleResult: CustomStringConvertible {
    /// The rule, the sentence that is broken, what was done to check it, and for each violation input, expected and got.
    public var description: String { lines.map { $0.prefix + $0.text }.joined(separator: "\n") }

    /// The lines of the description, each with what stands before its text.
    var lines: [(prefix: String, text: String)] {
        var lines = [("", "\(verdict): \(rule.id)"), ("  ", "\(sentence) (\(rule.source))")]
        if !checkedWithoutCapability { lines.append(("  ", "Rule: \(rule.procedure)")) }
        switch outcome {
        case .passed: break
        case .failed(let violations), .noted(let violations):
            for violation in violations { lines += violation.lines.map { ("  " + $0.prefix, $0.text) } }
        case .notApplicable(let reason): lines.append(("  ", reason))
        case .crashed(let how): lines.append(("  ", how))
        case .timedOut(let seconds): lines.append(("  ", "not done after \(Int(seconds)) seconds"))
        }
        if let knownDeviation { lines.append(("  known:    ", knownDeviation)) }
        if isBroken, let seed { lines.append(("  ", "repeat with: --rule \(rule.id) --seed \(seed)")) }
        return lines
    }

    private var sentence: String {
        checkedWithoutCapability ? rule.withoutCapability ?? rule.sentence : rule.sentence
    }
}
