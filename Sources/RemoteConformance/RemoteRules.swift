public import ConformanceRunner

/// One sentence about remotes, made checkable.
public typealias RemoteRule = Rule<RemoteSubject>

/// The rules for remotes: what `SyncRemote` promises and the sync engine relies on.
public enum RemoteRules {
    /// All rules, by chapter.
    public static let all: [RemoteRule] =
        inserting + ids + updating + values + conflicting + racing + restoring + deleting + tombstones + reading
        + confirming + paging
        + telling + changes
        + interleaving + settingAside + failing + foreignAnswers + cancelling + batches

    /// All rules as a suite: to choose from, to list, to run.
    public static let suite = RuleSuite(
        "remotes",
        all,
        listedBy: "a remote's conformance program with --list --markdown"
    )

    static let chapters: [Chapter] = [
        Chapter("insert", "Inserting"),
        Chapter("id", "Ids"),
        Chapter("update", "Updating"),
        Chapter("value", "Values"),
        Chapter("conflict", "Conflicts"),
        Chapter("restore", "Bringing deleted rows back"),
        Chapter("delete", "Deleting"),
        Chapter("tombstone", "Writing tombstones"),
        Chapter("record", "Reading by id"),
        Chapter("confirm", "Whether there is such a table"),
        Chapter("page", "Pages"),
        Chapter("pull", "Pulls of changes and their cursors"),
        Chapter("aside", "Rows that do not fit"),
        Chapter("failure", "What goes wrong"),
        Chapter("cancel", "Cancellation"),
        Chapter("batch", "Batches"),
    ]

    /// What a rule does.
    typealias Body = @Sendable (RemoteTrial) async throws -> Void

    /// Makes a rule; its chapter is the first word of its id.
    static func rule(
        _ id: String,
        _ sentence: String,
        in source: String,
        needs capability: String? = nil,
        _ procedure: String,
        _ body: @escaping Body
    ) -> RemoteRule {
        let chapter = chapters.first { id.hasPrefix($0.id + ".") } ?? Chapter("unknown", "Unknown")
        return RemoteRule(
            RuleDefinition(
                id: id,
                chapter: chapter,
                sentence: sentence,
                source: source,
                level: capability.map { .optional(capability: $0) } ?? .required,
                procedure: procedure
            )
        ) { trial in try await RemoteTrial.run(trial, body) }
    }
}

extension Rule where Subject == RemoteSubject {
    /// Runs this rule for a remote, in this process. For adapters to test frameworks.
    public func run(on harness: any RemoteHarness, _ settings: RunSettings = RunSettings()) async throws -> RuleResult {
        let subject = RemoteSubject(harness)
        return await run(on: subject, capabilities: try await subject.capabilities(), settings)
    }
}
