package import ReferenceStore
package import SyncContract

/// What is wrong with a store that is right otherwise. Every member is one place where a store can go wrong.
package struct Faults: Sendable {
    package typealias Inner = MemoryTransaction

    /// Whether values under undeclared keys are kept.
    package var keepsUnknownColumns = true
    /// Whether queries about states are asked of the store, and not of the transaction around it.
    package var answersSyncStates = false
    /// What is answered from the state before the transaction.
    package enum Look: Sendable, Hashable { case aggregates, words, expectedRows, furtherTables }
    package var looksBack: Set<Look> = []
    /// What a read answers from the state of now.
    package var looksAhead: Set<Look> = []
    /// Whether a statement in SQL gives nothing where there is no SQL.
    package var ignoresSQL = false
    /// The schema the store works with.
    package var schema: @Sendable (StoreSchema) -> StoreSchema = { $0 }
    package var definition: @Sendable (String, Inner) throws -> TableDefinition = { try $1.definition(of: $0) }
    package var record: @Sendable (RecordID, String, Inner) throws -> Record? = { try $2.record($0, in: $1) }
    /// Nil for what a store does that says nothing about it.
    package var stored: (@Sendable (Record, [String], String, Inner) throws -> StoredRow)?
    /// All rows of a query, in order.
    package var rows: @Sendable (Query, Inner) throws -> [Record] = { query, inner in
        var rows: [Record] = []
        try inner.forEach(query) { rows.append($0) }
        return rows
    }
    package var walk: @Sendable ([Record], (Record) throws -> Void) throws -> Void = { rows, body in
        for row in rows { try body(row) }
    }
    package var count: @Sendable (Query, Inner) throws -> Int = { try $1.count($0) }
    /// Nil for what a store does that says nothing about it.
    package var aggregate: (@Sendable (AggregateQuery, Inner) throws -> [AggregateGroup])?
    package var upsert: @Sendable ([Record], String, Inner) throws -> Void = { try $2.upsert($0, into: $1) }
    /// Nil for what a store does that says nothing about it.
    package var insert: (@Sendable (Record, String, Inner) throws -> Bool)?
    package var deleteIDs: @Sendable ([RecordID], String, Inner) throws -> Int = { try $2.delete($0, from: $1) }
    package var deleteQuery: @Sendable (Query, Inner) throws -> Int = { try $1.delete($0) }

    /// The tables after a transaction that threw, from those before and those it made.
    package var rollBack: @Sendable ([String: MemoryTable], [String: MemoryTable]) -> [String: MemoryTable] = {
        before,
        _ in
        before
    }
    /// The error that is thrown on.
    package var rethrow: @Sendable (any Error) -> (any Error)? = { $0 }
    /// The tables that are told to subscribers, from those that were touched, and the tables before and after.
    package var touched: @Sendable (Set<String>, [String: MemoryTable], [String: MemoryTable]) -> Set<String> = {
        touched,
        _,
        _ in
        touched
    }
    package var store = StoreFaults()

    package init() {}
}

/// Faults that lie in how transactions are run.
package struct StoreFaults: Sendable {
    package var ignoresCancellation = false
    package var checksCancellationAfterCommit = false
    package var looksForCancellationOnlyAtFirst = false
    package var runsClosuresAgain = false
    package var checksCancellationBeforeCommit = false
    package var takesErrorsForCancellation = false
    package var readsWaitForWriters = false
    package var losesUpdates = false
    package var overlapsWriters = false
    package var readsUncommitted = false
    package var readsStale = false
    package var firesInClosure = false
    package var firesOnRollback = false
    package var firesLate = false
    package var firesNever = false
    package var breaksAfterError = false
    package var worksWhenClosed = false
    package var keepsStreamsOpen = false
    package var worksWhenLocked = false
    package var writesWhenLocked = false
    package var endsStreamsWhenLocked = false
    package var tellsNothingWhenUnlocked = false
    package var subscribesLazily = false
    package var streamsWithoutMerging = false
    package var streamsToOneOnly = false
    package var streamsNewestOnly = false
    package var streamsEndTogether = false
    package var firesOnRead = false
    package var growsCapabilities = false
    package var returnsEmptyLists = false
    package var revertsWhenNothingIsWritten = false
    package var namesClosingInternal = false
    /// The schema it says it has.
    package var declares: @Sendable (StoreSchema) -> StoreSchema = { $0 }
    package var takesAnySchema = false
    package var replaysLastChange = false
    /// The query that is read without a closure, from the one that is asked for.
    package var shortQuery: @Sendable (Query) -> Query = { $0 }
    /// Whether the results of queries that are read without a closure are kept until their table is written.
    package var keepsResults = false
    /// The row that is read by its id without a closure, from the one that is there.
    package var shortRecord: @Sendable (Record?) -> Record? = { $0 }
    package var sleepsForever = false
    package var blocksForever = false
    package var traps = false

    package init() {}
}
