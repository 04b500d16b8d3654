public import ConformanceRunner
internal import SyncContract

/// One sentence of the store contract, made checkable.
public typealias StoreRule = Rule<StoreSubject>

/// The rules for stores.
public enum StoreRules {
    /// All rules, by chapter.
    public static let all: [StoreRule] =
        values + reading + shortReads + repeatedReads + expecting + queries + longValues + matching + computing
        + searching + searchIndexes + longTexts
        + ordering + aggregates + manyGroups
        + upserts + largeCalls + casings
        + deletions
        + refusedDeletions
        + systemTables + syncStates + keptStates + movedOperations + sqlReports
        + transactions + rolledBackIndexes
        + concurrency + tableSnapshots + histories + changes
        + failures + fullDisk + closing + locking
        + schemas + keptSchemas + retypedTables + versions + migratedIndexes
        + durability + keptValues + killedStates + killedCommits + encryption

    /// All rules as a suite: to choose from, to list, to run.
    public static let suite = RuleSuite("stores", all)

    static let chapters: [Chapter] = [
        Chapter("values", "Values and types"),
        Chapter("read", "Reading by id"),
        Chapter("query", "Queries: comparisons, logic, null"),
        Chapter("match", "Queries: text and lists"),
        Chapter("compute", "Queries: arithmetic, functions, bounds"),
        Chapter("search", "Queries: folded text and words"),
        Chapter("order", "Order, paging, selection, counts"),
        Chapter("aggregate", "Counts, sums, smallest and largest values, groups"),
        Chapter("upsert", "Inserting and merging"),
        Chapter("delete", "Deleting"),
        Chapter("system", "System tables"),
        Chapter("state", "The states of rows"),
        Chapter("sql", "Reports in SQL"),
        Chapter("transaction", "Transactions and rollback"),
        Chapter("concurrency", "Concurrency and isolation"),
        Chapter("changes", "The change feed"),
        Chapter("failure", "Failure reporting"),
        Chapter("locking", "Locking"),
        Chapter("schema", "Schema"),
        Chapter("migration", "Migrations"),
        Chapter("durability", "Durability"),
        Chapter("encryption", "Encryption"),
    ]

    /// Makes a rule; its chapter is the first word of its id.
    static func rule(
        _ id: String,
        _ sentence: String,
        in source: String,
        _ procedure: String,
        needs capability: String? = nil,
        isRecommended: Bool = false,
        otherwise: (sentence: String, body: StoreRule.Body)? = nil,
        drills: [String: StoreRule.Body] = [:],
        _ body: @escaping StoreRule.Body
    ) -> StoreRule {
        let chapter = chapters.first { id.hasPrefix($0.id + ".") } ?? Chapter("unknown", "Unknown")
        return StoreRule(
            RuleDefinition(
                id: id,
                chapter: chapter,
                sentence: sentence,
                source: source,
                level: isRecommended
                    ? .recommended(capability: capability) : capability.map { .optional(capability: $0) } ?? .required,
                procedure: procedure,
                withoutCapability: otherwise?.sentence
            ),
            drills: drills,
            bodyWithoutCapability: otherwise?.body,
            body: body
        )
    }
}

extension Rule where Subject == StoreSubject {
    /// Runs this rule for a store, in this process. For adapters to test frameworks.
    public func run(on harness: some StoreHarness, _ settings: RunSettings = RunSettings()) async throws -> RuleResult {
        let subject = StoreSubject(harness)
        return await run(on: subject, capabilities: try await subject.capabilities(), settings)
    }
}
