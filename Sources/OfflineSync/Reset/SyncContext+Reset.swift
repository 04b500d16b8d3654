internal import RemoteContract
package import SyncContract
internal import Synchronization

/// A pull that brings everything of a query anew.
package struct FreshPull: Sendable {
    package var source: Query
    package var queryID: String?
    package var options: PullOptions

    package init(_ source: Query, queryID: String? = nil, options: PullOptions = PullOptions()) {
        self.source = source
        self.queryID = queryID
        self.options = options
    }
}

/// Another session over the same store, or one sync, has brought everything anew that was to be brought: to do it again would give
/// up what was changed since.
package struct ResetDoneMeanwhile: Error {}

/// When it was decided to bring everything anew.
package struct ResetDecision: Sendable {
    /// The stage that was seen.
    var stage: ResetStage
    /// Whether all that is to be brought has been since.
    var isBrought: @Sendable () async throws -> Bool

    package init(_ stage: ResetStage, isBrought: @escaping @Sendable () async throws -> Bool) {
        self.stage = stage
        self.isBrought = isBrought
    }
}

// A server that has lost its history: everything is brought anew, beside the rows that are here, and takes their place in one
// transaction. Whatever ends the process in between leaves what was, or what is new.
extension SyncContext {
    /// Where that is, as the store remembers it.
    package func resetStage() async throws -> ResetStage { try await store.read { try ResetStage.stored(&$0) } }

    /// Remembers that it is to be done from the beginning, whatever was done of it.
    package func requestReset() async throws {
        try await set { transaction in
            try FreshRows.removeAll(&transaction)
            try ResetStage.wanted.store(&transaction)
            return true
        }
    }

    /// Has nothing pushed or pulled from now on; ``requestAnnouncedReset()`` stores it.
    package func announceReset() { coordination.resets.withLock { $0.announce() } }

    /// ``requestReset()`` for what was announced and is not stored; nothing without. While that fails it stays announced.
    package func requestAnnouncedReset() async throws {
        let (announced, stored) = coordination.resets.withLock { ($0.announced, $0.stored) }
        guard announced > stored else { return }
        try await requestReset()
        coordination.resets.withLock { $0.store(announced) }
    }

    /// Does something in which nothing is pushed or pulled.
    package func withoutExchange(_ body: () async throws -> Void) async rethrows {
        coordination.resets.withLock { $0.holders += 1 }
        defer { coordination.resets.withLock { $0.holders -= 1 } }
        try await body()
    }

    /// Remembers that everything that was done is told, unless it is wanted anew by now.
    package func finishReset() async throws {
        try await coordination.pullGate.withTurn {
            try await set { transaction in
                let stage = try ResetStage.stored(&transaction)
                guard case .done = stage else { return stage.isOutstanding }
                try FreshRows.removeAll(&transaction)
                try ResetStage.none.store(&transaction)
                return false
            }
        }
    }

    /// Remembers that nothing of it is left to be done, or that it will not be done: what was stays.
    ///
    /// - Parameter decision: When that was decided; nil to do it in any case.
    /// - Throws: ``ResetDoneMeanwhile`` when somebody else has brought everything since.
    package func endReset(since decision: ResetDecision? = nil) async throws {
        try await coordination.pullGate.withTurn {
            if let decision { try await checkNotDone(since: decision) }
            try await set { transaction in
                try FreshRows.removeAll(&transaction)
                try ResetStage.none.store(&transaction)
                return false
            }
        }
    }

    /// Refuses to do again what somebody else has done since it was decided. Others may have given it up, or have brought other
    /// pulls: then it is still to be done.
    private func checkNotDone(since decision: ResetDecision) async throws {
        switch try await resetStage() {
        case .none where decision.stage.isOutstanding, .done where decision.stage.isOutstanding,
            .done where decision.stage == .none:
            if try await decision.isBrought() { throw ResetDoneMeanwhile() }
        case .none, .wanted, .begun, .begunForAge, .done: break
        }
    }

    /// Gives it up where it was begun because of the age of what was: that stays as it was.
    ///
    /// - Returns: Whether it was.
    package func giveUpReset() async throws -> Bool {
        try await coordination.pullGate.withTurn {
            try await set { transaction in
                let stage = try ResetStage.stored(&transaction)
                guard stage == .begunForAge else { return stage.isOutstanding }
                try FreshRows.removeAll(&transaction)
                try ResetStage.none.store(&transaction)
                return false
            }
            return try await resetStage() == .none
        }
    }

    /// How many fresh rows lie beside those of before.
    package func freshRowCount() async throws -> Int {
        try await store.read { try $0.count(ConfigurationTable.query(.freshRow)) }
    }

    /// Brings everything anew, and holds the changes that wait against it.
    ///
    /// One that was interrupted goes on where it was. Until ``endReset()`` the stage says what was done. A table then has
    /// what the pulls have brought and what waits; of tables that none of them is about the rows stay as they are, and their
    /// next pulls start from the beginning.
    ///
    /// - Parameters:
    ///   - pulls: What is brought. Bounds of their options do not count.
    ///   - discardsChanges: Whether changes that wait are given up, and kept in ``discardedChanges()``.
    ///   - decision: When it was decided; nil to do it in any case.
    ///   - forAge: Whether the age of what was is the only reason, so that it may be given up.
    ///   - willBring: Is called with the index of each pull before it is made.
    ///   - complete: Remembers in the transaction that puts all in place that it is complete.
    /// - Returns: What became of the changes.
    /// - Throws: As a pull; ``ResetDoneMeanwhile`` when somebody else has brought everything since.
    package func reset(
        onto pulls: [FreshPull],
        discardsChanges: Bool,
        since decision: ResetDecision? = nil,
        forAge: Bool = false,
        willBring: (Int) -> Void = { _ in },
        complete: @escaping @Sendable (inout StoreTransaction) throws -> Void = { _ in }
    ) async throws -> ResetReport {
        try checkRemote()
        return try await coordination.pullGate.withTurn {
            if let decision { try await checkNotDone(since: decision) }
            try await beginReset(onto: pulls, as: forAge ? .begunForAge : .begun)
            let whole = RequestCounter()
            do {
                try await whole.counting { try await bringFreshRows(pulls, willBring) }
            } catch let error as SyncError where error.code == .historyLost {
                // It was set up anew once more.
                try await beginReset(onto: pulls, as: .begun, anew: true)
                try await whole.counting { try await bringFreshRows(pulls, willBring) }
            }
            let report = try await switchOver(pulls, discardsChanges, complete)
            events.send(.wasReset(report))
            // They are of no use any more; what an interruption leaves of them goes with the end.
            try await store.write { try FreshRows.removeAll(&$0) }
            return report
        }
    }

    /// Refuses to exchange anything with the server from when everything is to be brought anew until the fresh rows have taken
    /// the place of those of before: what is sent could go over what others have written, and what comes they would undo.
    func checkReset() async throws {
        var (isOutstanding, changes) = coordination.resets.withLock { ($0.isHeld ? true : $0.value, $0.changes) }
        if isOutstanding == nil {
            let read = try await resetStage().isOutstanding
            // What was changed while that was read is known better by now.
            isOutstanding = coordination.resets.withLock { knowledge in
                knowledge.learn(read, at: changes)
                return read || knowledge.isHeld || knowledge.value == true
            }
        }
        guard isOutstanding == true else { return }
        throw SyncError(
            .historyLost,
            "The server has lost its history, and everything is to be brought anew; nothing is pushed or pulled until"
                + " that has been done. Start the session, or sync with it, to go on."
        )
    }

    private func beginReset(onto pulls: [FreshPull], as stage: ResetStage, anew: Bool = false) async throws {
        // After the push that is under way.
        try await coordination.gate.withTurn {
            // What waits is held against rows whose references are translated.
            try await prepareExchange()
            try await set { transaction in
                guard try !ResetStage.stored(&transaction).isBegun || anew else {
                    try self.dropRowsBroughtAnew(by: pulls, &transaction)
                    return true
                }
                try FreshRows.removeAll(&transaction)
                try stage.store(&transaction)
                return true
            }
        }
    }

    /// Drops what an interruption has left of tables with a pull that cannot go on where it was: it brings everything again, but
    /// says nothing of rows that have left since. So is what another pull has brought that is none of these any more.
    private func dropRowsBroughtAnew(by pulls: [FreshPull], _ transaction: inout StoreTransaction) throws {
        for (table, pulls) in Dictionary(grouping: pulls, by: \.source.table) {
            let cursors = try FreshRows.cursors(of: table, &transaction)
            let own = try pulls.map { pull in
                let pulled = try pulledQuery(pull.source, pull.queryID, pull.options)
                let asked = try IdentifierTranslation(pulled.table, store.schema).outgoing(pulled.query, &transaction)
                let query = try PullRunner.fingerprint(of: asked, in: pulled.table, pull.options.parameters)
                return (queryID: pulled.queryID, query: query)
            }
            let areOwn = cursors.allSatisfy { cursor in
                own.contains { $0.queryID == cursor.queryID && $0.query == cursor.query }
            }
            let goesOn = areOwn && !cursors.isEmpty && !pulls.contains(where: \.options.reconciles)
            if !goesOn { try FreshRows.removeAll(of: table, &transaction) }
        }
    }

    /// Changes the stage; the closure says whether nothing is pushed or pulled from then on.
    private func set(_ body: @escaping @Sendable (inout StoreTransaction) throws -> Bool) async throws {
        let changes = coordination.resets.withLock { knowledge in
            knowledge.change(to: nil)
            return knowledge.changes
        }
        let isOutstanding = try await store.write(body)
        coordination.resets.withLock { $0.learn(written: isOutstanding, at: changes) }
    }

    private func bringFreshRows(_ pulls: [FreshPull], _ willBring: (Int) -> Void) async throws {
        var work = PullRunner.Work(
            bounds: PullBounds(PullOptions(), clock),
            progress: PullProgress(tables: pulls.count)
        )
        for (index, pull) in pulls.enumerated() {
            willBring(index)
            let query = try pulledQuery(pull.source, pull.queryID, pull.options)
            try await runner(query.table, pull.options)
                .bringFreshRows(
                    query.query,
                    queryID: query.queryID,
                    reconciles: pull.options.reconciles,
                    &work
                )
        }
    }

    private func switchOver(
        _ pulls: [FreshPull],
        _ discardsChanges: Bool,
        _ complete: @escaping @Sendable (inout StoreTransaction) throws -> Void
    ) async throws -> ResetReport {
        let whole = pulls.filter { pull in
            pull.source.predicate == nil && pull.source.limit == nil && pull.options.parameters.isEmpty
        }
        var extents = Dictionary(pulls.map { ($0.source.table, ResetSwitch.Extent.part) }) { first, _ in first }
        for pull in whole { extents[pull.source.table] = .whole }
        return try await coordination.gate.withTurn { [extents] in
            let change = ResetSwitch(
                schema: store.schema,
                storesUndeclaredColumns: store.capabilities.contains(.unknownColumns),
                extents: extents,
                discardsChanges: discardsChanges,
                decisions: PushDecisions(self),
                request: coordination.answers.requestStarted()
            )
            coordination.resets.withLock { $0.change(to: nil) }
            return try await store.write { transaction in
                // It may be wanted from the beginning meanwhile.
                guard try ResetStage.stored(&transaction).isBegun else { throw CancellationError() }
                let report = try change.run(&transaction)
                try ResetStage.done(report).store(&transaction)
                try complete(&transaction)
                return report
            }
        }
    }
}
