internal import SeededNumbers
internal import SyncContract

/// What a world is like: its devices, its server and its network, as a seed has it.
package struct WorldSettings: Sendable {
    /// The columns that edits write.
    static let columns = ["title", "note"]

    let seed: UInt64
    package let deviceCount: Int
    let tables: [String]
    /// The ids of rows: few, so that devices meet.
    let ids: [String]

    /// Whether an update replaces the whole row, as in protocol 3; otherwise it changes what is given.
    let replacesWholeRows: Bool
    /// Whether ids are told apart by case.
    let idsDifferByCase: Bool
    /// Whether a deleted row is changed first and brought back then, as in protocol 2.
    let restoresInTwoSteps: Bool
    /// Whether a tombstone that was just made is shown.
    let showsTombstones: Bool
    /// Whether columns without a value are left out of rows.
    let leavesOutNulls: Bool
    /// Whether versions count per row; otherwise over all.
    let countsVersionsPerRow: Bool
    /// Whether pulls go by the time of the last change, so that rows come again; otherwise by the order of the changes.
    let pullsByStamp: Bool
    /// Whether a change may be stamped some time before others see it.
    let commitsLate: Bool
    /// Whether stamps are finer than milliseconds.
    let stampsAreFiner: Bool
    let pageSize: Int?
    /// How many of a hundred requests meet something bad.
    let harm: Int
    /// How many operations a push has under way at a time.
    let parallelOperations: Int
    /// How many operations leave together.
    let batchSize: Int
    /// What apps have settled by rule, and whether their delegates have a say before.
    let policy: Policy
    let hasDelegates: Bool
    /// Whether somebody at the server removes rows without a trace.
    let removesForGood: Bool
    /// Whether the server keeps nothing of a row that is deleted.
    let deletesForGood: Bool
    /// Whether answers to changes say which version they have made.
    let namesNewVersions: Bool
    /// Whether items name the list that they are in.
    let hasReferences: Bool
    /// What becomes of items whose list is deleted.
    let rule: DeletionRule
    /// Whether the server is set up anew from an older state.
    let losesHistory: Bool
    /// Whether an app has two contexts over its store.
    let hasTwoContexts: Bool
    /// Whether users who keep what is here write something else into it, and whether delegates decide so about refusals.
    let keepsOtherValues: Bool
    /// Whether rows have a column that stays on the device.
    let hasLocalColumn: Bool
    /// Whether the server calls a column otherwise.
    let hasOtherNames: Bool
    /// Whether apps remove some of their rows from the device.
    let purgesSome: Bool
    /// Whether apps get new versions, with other tables.
    let migrates: Bool
    /// Whether two columns change their names with each other then; otherwise one of them gets a new one.
    let swapsColumns: Bool
    /// Whether the server, too, calls them otherwise to apps of the new version.
    let renamesOnWire: Bool
    /// Whether the server gives its rows a value in the column that comes anew.
    let fillsOnServer: Bool
    /// Whether rows of the server get values that do not fit their table here.
    let hasUnfitRows: Bool

    /// What is done about conflicts inside of pushes.
    enum Policy: CaseIterable {
        case store
        case clientWins
        case serverWins
        case merge
    }

    /// How many operations of the queue a push looks at in one query.
    let queuePortion: Int

    package init(seed: UInt64) {
        self.seed = seed
        var random = SeededGenerator(seed: seed)
        deviceCount = random.pick([2, 2, 2, 3, 3, 4])
        ids = (0..<random.pick([1, 2, 2, 3, 5])).map { "k\($0)" }
        replacesWholeRows = random.chance(1, of: 2)
        idsDifferByCase = random.chance(2, of: 3)
        let restoresInTwoSteps = !replacesWholeRows && random.chance(1, of: 2)
        showsTombstones = random.chance(3, of: 4)
        leavesOutNulls = random.chance(1, of: 2)
        countsVersionsPerRow = random.chance(1, of: 3)
        pullsByStamp = random.chance(1, of: 2)
        commitsLate = random.chance(1, of: 3)
        stampsAreFiner = random.chance(1, of: 2)
        pageSize = random.pick([nil, 1, 2, 3])
        harm = random.pick([0, 10, 25, 25, 40])
        tables = random.chance(1, of: 3) ? ["items", "lists"] : ["items"]
        parallelOperations = random.pick([1, 1, 2, 3, 8])
        policy = random.chance(1, of: 2) ? .store : random.pick(Policy.allCases)
        hasDelegates = random.chance(1, of: 4)
        removesForGood = random.chance(1, of: 5)
        deletesForGood = random.chance(1, of: 6)
        hasReferences = tables.count > 1 && random.chance(2, of: 3)
        batchSize = random.pick([1, 1, 1, 2, 2, 5])
        // There is nothing to be brought back.
        self.restoresInTwoSteps = restoresInTwoSteps && !deletesForGood
        namesNewVersions = random.chance(5, of: 6)
        rule = hasReferences ? random.pick([.noAction, .noAction, .nullify, .cascade]) : .noAction
        losesHistory = random.chance(1, of: 6)
        hasTwoContexts = random.chance(1, of: 5)
        keepsOtherValues = random.chance(1, of: 4)
        hasLocalColumn = random.chance(1, of: 5)
        hasOtherNames = random.chance(1, of: 6)
        purgesSome = random.chance(1, of: 5)
        migrates = random.chance(1, of: 5)
        swapsColumns = random.chance(1, of: 2)
        renamesOnWire = random.chance(1, of: 2)
        fillsOnServer = random.chance(1, of: 2)
        hasUnfitRows = random.chance(1, of: 6)
        queuePortion = random.pick([1, 1, 2, 1_024])
    }

    /// Whether the rows of a table name a list.
    func refers(_ table: String) -> Bool { hasReferences && table == "items" }

    /// The form of an id by which it is told apart.
    func key(_ id: String, in table: String) -> RowKey {
        RowKey(table: table, id: idsDifferByCase ? id : id.lowercased())
    }

    /// The rows that everything is about.
    var rows: [RowKey] { tables.flatMap { table in ids.map { key($0, in: table) } } }
}
