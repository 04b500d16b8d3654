internal import ConformanceRunner
internal import RemoteContract
internal import SyncContract

/// One run of one rule: a back end of its own, the remote that is judged, and where is said what is wrong.
struct RemoteTrial: Sendable {
    let trial: Trial<RemoteSubject>
    let world: any RemoteWorld
    let remote: any SyncRemote
    let table: TableDefinition

    /// Runs a rule on a world of its own.
    static func run(_ trial: Trial<RemoteSubject>, _ body: RemoteRules.Body) async throws {
        do {
            try await body(try await RemoteTrial(trial))
        } catch is Stopped {
            // What is wrong was reported.
        }
    }

    /// The rule cannot go on; what is wrong was reported.
    struct Stopped: Error {}

    private init(_ trial: Trial<RemoteSubject>, _ table: TableDefinition = .items) async throws {
        let world = try await trial.subject.harness.makeWorld(table)
        trial.afterwards { await world.close() }
        self.trial = trial
        self.world = world
        self.table = table
        remote = try await world.makeRemote()
    }

    /// The same rule on another world.
    func anew(_ table: TableDefinition = .items) async throws -> RemoteTrial { try await RemoteTrial(trial, table) }

    // MARK: The back end

    /// The row as the back end has it.
    func row(_ id: String) async throws -> Record? {
        try await world.rows().first { $0.id == .string(id) }
    }

    /// The row as the back end has it, which has to be there for the rule to make sense.
    func existing(_ id: String) async throws -> Record {
        guard let row = try await row(id), row.version != nil else {
            throw WorldFailure("the world does not show a row that was just written there, with a version")
        }
        return row
    }

    /// Another client makes rows; as they are in the back end then.
    @discardableResult
    func make(_ ids: String...) async throws -> [Record] {
        try await world.write(ids.map { .insert(.item($0)) })
        var rows: [Record] = []
        for id in ids { rows.append(try await existing(id)) }
        return rows
    }

    /// Another client makes a row and deletes it; the tombstone.
    func makeTombstone(_ id: String) async throws -> Record {
        try await make(id)
        try await world.write([.delete(id)])
        return try await existing(id)
    }

    /// Another client changes a row; as it was before, and as it is now.
    func makeChanged(_ id: String) async throws -> (before: Record, now: Record) {
        let before = try await make(id)[0]
        try await world.write([.change(id, ["text": "theirs"])])
        return (before, try await existing(id))
    }

    /// Has a fault met by what is done in a closure, and by nothing after it.
    func meeting(_ fault: RemoteFault, _ body: () async throws -> Void) async throws {
        try await world.meet(fault)
        do {
            try await body()
        } catch {
            try await world.meet(nil)
            throw error
        }
        try await world.meet(nil)
    }

    // MARK: Findings

    /// Reports when a row is not there, has other content, or another version than the back end has.
    func expect(_ got: Record?, isAsInBackEnd id: String, _ input: String) async throws {
        expect(got, isLike: try await row(id), input)
    }

    /// Reports when a row differs from another in content, version or in being deleted.
    func expect(_ got: Record?, isLike expected: Record?, _ input: String) {
        trial.expect(
            got?.essence == expected?.essence,
            input,
            expected: shown(expected, not: got),
            got: shown(got, not: expected)
        )
    }

    /// Reports when a row has other values in its columns.
    func expect(_ got: Record?, hasContentOf expected: Record, _ input: String) {
        trial.expect(
            got?.content == expected.content,
            input,
            expected: shown(expected, not: got),
            got: shown(got, not: expected)
        )
    }

    /// Reports when a closure does not throw a `RemoteError` with one of the given codes.
    ///
    /// - Returns: The error.
    @discardableResult
    func expectError(
        _ codes: RemoteError.Code...,
        from input: String,
        _ body: () async throws -> Any?
    ) async throws -> RemoteError? {
        let expected = "a RemoteError with the code " + codes.map { ".\($0)" }.joined(separator: " or ")
        do {
            let value = try await body()
            trial.report(input, expected: expected, got: "no error but \(brief(value ?? "nil"))")
        } catch let error as RemoteError {
            trial.expect(codes.contains(error.code), input, expected: expected, got: brief(error))
            expectNoContent(in: error, input)
            return error
        } catch let error as Unsupported {
            throw error
        } catch {
            trial.report(input, expected: expected, got: brief(error))
        }
        return nil
    }

    /// Reports a conflict that does not come, or without the row that the back end has, and a row that is another one
    /// afterwards.
    func expectConflict(over id: String, from input: String, _ body: () async throws -> Any?) async throws {
        let before = try await row(id)
        try await expectConflict(withRow: id, from: input, body)
        expect(try await row(id), isLike: before, input + "; the row in the back end afterwards")
    }

    /// Reports a conflict that does not come, or without the row that the back end has.
    func expectConflict(withRow id: String, from input: String, _ body: () async throws -> Any?) async throws {
        guard let error = try await expectError(.conflict, from: input, body), error.code == .conflict else { return }
        try await expect(error.serverRecord, isAsInBackEnd: id, input + "; the error's serverRecord")
    }

    /// Messages are logged: no value of a row may stand in them.
    private func expectNoContent(in error: RemoteError, _ input: String) {
        let text = "\(error) \(error.message)"
        for secret in Record.secrets where text.contains(secret) {
            trial.report(
                input,
                expected: "an error whose texts name columns and addresses, and no content of rows",
                got: brief(error)
            )
        }
    }
}

/// The back end, or who else writes there, does not do its part, so that nothing can be said about the remote.
struct WorldFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
