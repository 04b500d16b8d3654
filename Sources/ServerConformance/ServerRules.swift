public import ConformanceRunner

/// One sentence about servers, made checkable.
public typealias ServerRule = Rule<ServerSubject>

/// The rules for servers.
public enum ServerRules {
    /// The rules for a protocol, to choose from, to list, to run.
    public static func suite(for serverProtocol: ServerProtocol) -> RuleSuite<ServerSubject> {
        RuleSuite(
            "servers of \(serverProtocol.name)",
            all.filter { $0.protocols.contains(serverProtocol) }.map(\.rule),
            listedBy: "sealedsync conform --list --markdown --protocol \(serverProtocol.rawValue)"
        )
    }

    /// What a rule does.
    typealias Body = @Sendable (ServerTrial) async throws -> Void

    /// A rule and the protocols it is about.
    struct Entry: Sendable {
        let rule: ServerRule
        let protocols: Set<ServerProtocol>
    }

    static let all: [Entry] =
        versions + creation + wideValues + ids + conflicts + reading + replacing + merging + deletion + restoring
        + conditions
        + queries + keysets
        + functions + ordering + paging + pageWalks + keptValues + dates + tombstones + concurrency + badInput
        + properties

    static let chapters: [Chapter] = [
        Chapter("version", "The protocol's version"),
        Chapter("create", "Creating rows"),
        Chapter("conflict", "Creating rows that exist"),
        Chapter("read", "Reading rows by id"),
        Chapter("replace", "Replacing rows"),
        Chapter("patch", "Merging into rows"),
        Chapter("delete", "Deleting rows"),
        Chapter("undelete", "Bringing rows back"),
        Chapter("conditional", "Conditional requests"),
        Chapter("query", "Queries: conditions"),
        Chapter("function", "Queries: functions"),
        Chapter("order", "Queries: order, selection, counts"),
        Chapter("page", "Paging"),
        Chapter("date", "Dates"),
        Chapter("tombstone", "Deleted rows in queries"),
        Chapter("concurrency", "Requests at the same time"),
        Chapter("input", "Bad input"),
        Chapter("property", "What the server is"),
    ]

    /// Who must keep a rule.
    enum Need {
        /// Everyone.
        case everyone
        /// Tables with a column of a kind.
        case column(ColumnKind)
        /// Tables that keep deleted rows.
        case softDelete
        /// Tables with a column of numbers that may have fractions.
        case fractions
        /// Nobody: the protocol leaves it open, or servers are known to differ.
        case nobody

        var level: RuleLevel {
            switch self {
            case .everyone: .required
            case .column(let kind): .optional(capability: kind.rawValue)
            case .softDelete: .optional(capability: ServerProfile.softDeleteName)
            case .fractions: .optional(capability: ServerProfile.fractionName)
            case .nobody: .informative
            }
        }
    }

    /// Makes a rule; its chapter is the first word of its id. The source is the section of the reference.
    static func rule(
        _ id: String,
        _ protocols: Set<ServerProtocol>,
        _ sentence: String,
        in source: String,
        for need: Need = .everyone,
        _ procedure: String,
        otherwise: (sentence: String, body: Body)? = nil,
        _ body: @escaping Body
    ) -> Entry {
        let chapter = chapters.first { id.hasPrefix($0.id + ".") } ?? Chapter("unknown", "Unknown")
        let definition = RuleDefinition(
            id: id,
            chapter: chapter,
            sentence: sentence,
            source: source,
            level: need.level,
            procedure: procedure,
            withoutCapability: otherwise?.sentence
        )
        var bodyWithoutCapability: ServerRule.Body?
        if let otherwise { bodyWithoutCapability = { trial in try await ServerTrial.run(trial, otherwise.body) } }
        let rule = ServerRule(definition, bodyWithoutCapability: bodyWithoutCapability) { trial in
            try await ServerTrial.run(trial, body)
        }
        return Entry(rule: rule, protocols: protocols)
    }
}

extension Set<ServerProtocol> {
    static let both: Set = [.datasync, .azureMobileApps]
    static let protocol3: Set = [.datasync]
    static let protocol2: Set = [.azureMobileApps]
}
