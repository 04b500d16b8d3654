/// One sentence of a contract, made checkable.
///
/// A rule is a value: it can be listed, printed, chosen by its id and run wherever there is something to judge.
public struct Rule<Subject: ConformanceSubject>: Sendable, Identifiable {
    /// What a rule does to the subject. It reports what is wrong to the trial; an error it throws breaks the rule too.
    public typealias Body = @Sendable (Trial<Subject>) async throws -> Void

    /// What the rule is, without what it does.
    public let definition: RuleDefinition

    /// What is checked.
    public let body: Body

    /// What is checked instead when the subject does not have the rule's capability; nil when nothing can be observed.
    public let bodyWithoutCapability: Body?

    /// What processes that are killed do for this rule, by name. See ``Trial/runKilled(_:)``.
    public let drills: [String: Body]

    /// The stable id, such as `upsert.keeps-absent-columns`.
    public var id: String { definition.id }

    /// Makes a rule.
    ///
    /// - Parameters:
    ///   - definition: What the rule is.
    ///   - drills: What processes that are killed do for this rule.
    ///   - bodyWithoutCapability: What is checked when the subject does not have the capability.
    ///   - body: What is checked.
    public init(
        _ definition: RuleDefinition,
        drills: [String: Body] = [:],
        bodyWithoutCapability: Body? = nil,
        body: @escaping Body
    ) {
        self.definition = definition
        self.drills = drills
        self.bodyWithoutCapability = bodyWithoutCapability
        self.body = body
    }
}

extension Rule: CustomStringConvertible {
    /// The id.
    public var description: String { id }
}

/// What a rule is: the part that lists, documentation and reports share.
public struct RuleDefinition: Sendable, Hashable, Encodable, CustomStringConvertible {
    /// The stable id: the chapter's, then words. It never changes its meaning.
    public let id: String

    /// The part of the contract.
    public let chapter: Chapter

    /// The sentence of the contract, word for word.
    public let sentence: String

    /// Whose documentation the sentence stands in.
    public let source: String

    /// Who must keep the rule.
    public let level: RuleLevel

    /// What the rule does to find out.
    public let procedure: String

    /// What holds instead, and is checked, for a subject without the capability; nil when nothing can be observed.
    public let withoutCapability: String?

    /// Describes a rule.
    public init(
        id: String,
        chapter: Chapter,
        sentence: String,
        source: String,
        level: RuleLevel = .required,
        procedure: String,
        withoutCapability: String? = nil
    ) {
        self.id = id
        self.chapter = chapter
        self.sentence = sentence
        self.source = source
        self.level = level
        self.procedure = procedure
        self.withoutCapability = withoutCapability
    }

    /// The id.
    public var description: String { id }

    private enum CodingKeys: String, CodingKey {
        case id, chapter, sentence, source, level, capability, procedure, withoutCapability
    }

    /// Encodes the members by name; `capability` only for an optional rule.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(chapter.id, forKey: .chapter)
        try container.encode(sentence, forKey: .sentence)
        try container.encode(source, forKey: .source)
        try container.encode(level.name, forKey: .level)
        try container.encodeIfPresent(level.capability, forKey: .capability)
        try container.encode(procedure, forKey: .procedure)
        try container.encodeIfPresent(withoutCapability, forKey: .withoutCapability)
    }
}

/// A part of a contract. The ids of its rules begin with its own.
public struct Chapter: Sendable, Hashable, Identifiable {
    /// The first word of the ids, such as `upsert`.
    public let id: String

    /// The heading in lists.
    public let title: String

    /// Names a chapter.
    public init(_ id: String, _ title: String) {
        self.id = id
        self.title = title
    }
}

/// Who must keep a rule.
public enum RuleLevel: Sendable, Hashable {
    /// Everyone must.
    case required
    /// Those who declare the named capability must.
    case optional(capability: String)
    /// Everyone should, or those who declare the capability: what does not is noted and not broken.
    case recommended(capability: String? = nil)
    /// Everyone may do otherwise: the contract leaves it open, and the report says what was found.
    case informative

    /// The level as a word.
    public var name: String {
        switch self {
        case .required: "required"
        case .optional: "optional"
        case .recommended: "recommended"
        case .informative: "informative"
        }
    }

    /// The level as lists print it: `must`, `must, with durable`, `should`, `may`.
    func words(_ capability: (String) -> String) -> String {
        let verb =
            switch self {
            case .required, .optional: "must"
            case .recommended: "should"
            case .informative: "may"
            }
        return self.capability.map { "\(verb), with \(capability($0))" } ?? verb
    }

    /// The capability without which the rule does not apply.
    public var capability: String? {
        switch self {
        case .optional(let capability): capability
        case .recommended(let capability): capability
        case .required, .informative: nil
        }
    }
}

/// What rules judge: a store behind its harness, a server behind its address.
public protocol ConformanceSubject: Sendable {
    /// What the report calls it.
    var name: String { get }

    /// The capabilities it declares, by name. Asked once for each run.
    func capabilities() async throws -> Set<String>
}
