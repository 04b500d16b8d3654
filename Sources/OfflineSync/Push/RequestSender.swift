internal import RemoteContract
internal import SyncContract
internal import SyncMachines

/// What a server said to a request, with what it said it.
struct PushAnswer: Sendable {
    var answer: ItemAnswer<Record>
    /// The error underneath, when there is one.
    var error: RemoteError?
    /// What ends the push.
    var abort: SyncError?
    /// Rows one of which an insert may have made; the answer holds when none is.
    var candidates: [Record]?

    init(_ answer: ItemAnswer<Record>, _ error: RemoteError? = nil, abort: SyncError? = nil) {
        self.answer = answer
        self.error = error
        self.abort = abort
    }
}

/// Sends requests and says what the answers are, without deciding what they mean.
struct RequestSender: Sendable {
    let remote: any SyncRemote
    let storesUndeclaredColumns: Bool
    /// What the last pushes have ended at.
    let block: StumblingBlock
    let confirmed = ConfirmedTables()

    init(remote: any SyncRemote, storesUndeclaredColumns: Bool, block: StumblingBlock) {
        self.remote = remote
        self.block = block
        self.storesUndeclaredColumns = storesUndeclaredColumns
    }

    /// Sends what is to be sent.
    func send(_ inFlight: InFlightOperation) async throws -> PushAnswer {
        guard let outgoing = inFlight.outgoing else {
            return .refused("The item is no longer in the store; write it again or discard the change.")
        }
        if let problem = outgoing.serverID.flatMap(RowAddress.problem) {
            return .refused(
                "No address can name the id of this row: \(problem). It cannot be changed from here; give the change up."
            )
        }
        let send = {
            try await judge(outgoing.request, in: inFlight.table) {
                try await TombstoneShowing.$isStored.withValue(inFlight.mayShowTombstone) {
                    try await self.send(outgoing, outgoing.serverID ?? inFlight.operation.itemID, inFlight.table)
                }
            }
        }
        return try await reconsider(try await send(), to: inFlight, sendingAgain: send)
    }

    /// Says what the answer to a request is, errors of the remote included.
    func judge(
        _ request: ItemRequest<Record>,
        in table: TableDefinition,
        _ exchange: () async throws -> PushAnswer
    ) async throws -> PushAnswer {
        do {
            do {
                return try await exchange()
            } catch let error as RemoteError {
                if error.isPerhapsAboutTheAddress { try await confirm(table) }
                var answer = PushAnswer(error, to: request)
                // Where the server chooses ids, a look-up is all that was refused.
                if table.assignsIDs, request.isNewTombstone, case .refused = answer.answer {
                    answer.answer = .refused(provesNothingWasDone: false)
                }
                return answer
            }
        } catch let error as UnconfirmedTable {
            // Nothing is believed of its rows. What it said is no answer to the request.
            return PushAnswer(
                .aborted(provesNothingWasDone: false),
                error.cause,
                abort: SyncError(aborting: error.cause)
            )
        }
    }

    /// That a table did not answer.
    private struct UnconfirmedTable: Error {
        var cause: RemoteError
    }

    /// Makes sure that the table is there, once for each push. That it does not answer, or could not be asked, is said in an
    /// error of its own: it tells nothing of the request before.
    private func confirm(_ table: TableDefinition) async throws {
        do {
            try await confirmed.confirm(table, at: remote)
        } catch let error as RemoteError {
            throw UnconfirmedTable(cause: error)
        }
    }

    private func send(
        _ outgoing: OutgoingRequest,
        _ itemID: String,
        _ table: TableDefinition
    ) async throws -> PushAnswer {
        switch outgoing.request {
        case .insert(let row) where table.assignsIDs: return try await insertWithoutID(row, into: table)
        case .lookUp where table.assignsIDs: return try await lookUpInsert(outgoing, in: table, ifAbsent: .absent)
        case .tombstone(_, nil) where table.assignsIDs:
            // Nothing can keep a late insert away that carries no id.
            return try await lookUpInsert(outgoing, in: table, ifAbsent: .taken(nil))
        case .insert(let row):
            return answer(toInsertOf: row, into: table, try await remote.insert(row, into: table))
        case .update(let row, let version, let restoring):
            guard mayUpdate else {
                return .refused(
                    "This server replaces whole rows, and the store drops columns that it does not know; use a store"
                        + " with the capability unknownColumns."
                )
            }
            return PushAnswer(
                .taken(try await remote.update(row, in: table, version: version, restoring: restoring))
            )
        case .delete(let version):
            return try await answer(
                try await remote.delete(itemID, from: table, version: version),
                toDeletionOf: itemID,
                in: table,
                version: version
            )
        case .tombstone(let row, let version):
            let row = row ?? Record(id: .string(itemID))
            return PushAnswer(.taken(try await remote.writeTombstone(row, in: table, version: version)))
        case .fillTombstone(let row, let version):
            return PushAnswer(.taken(try await remote.writeTombstone(row, in: table, version: version)))
        case .lookUp:
            return try await lookUp(itemID, in: table) ?? PushAnswer(.absent)
        }
    }

    /// Looks a row up; nil when there is none.
    func lookUp(_ id: String, in table: TableDefinition) async throws -> PushAnswer? {
        do {
            if let row = try await remote.record(id, in: table) { return PushAnswer(.shown(row)) }
        } catch let error as RemoteError where error.code == .unfitRow {
            return PushAnswer(.unfit(version: error.serverRecord?.version), error)
        }
        // That there is none is believed of a table that is there.
        try await confirm(table)
        return nil
    }

    /// Whether rows can be written: a server that replaces them needs every column.
    var mayUpdate: Bool { !remote.replacesWholeRows || storesUndeclaredColumns }

    func answer(toInsertOf row: Record, into table: TableDefinition, _ answer: Record) -> PushAnswer {
        guard table.isSameID(answer.id, row.id) else {
            return PushAnswer(
                .storedUnderAnotherID,
                RemoteError(
                    .invalidResponse,
                    "The server has stored the item under an id of its own; declare that the table assigns ids, or let"
                        + " the server keep the given ones."
                )
            )
        }
        return PushAnswer(.taken(answer))
    }

    /// Says what became of a deletion. That there is no such row, or nothing at all, may also be the word of something in front
    /// of the service: the row itself tells.
    func answer(
        _ deletion: RemoteDeletion,
        toDeletionOf id: String,
        in table: TableDefinition,
        version: String?
    ) async throws -> PushAnswer {
        guard case .unconfirmed(let status) = deletion else { return PushAnswer(.taken(nil)) }
        if let answer = try await lookUpDeleted(id, in: table, version: version) { return answer }
        // That there is none is believed of a table that is there.
        try await confirm(table)
        return PushAnswer([404, 410].contains(status) ? .absent : .taken(nil))
    }

    /// Looks a row up that was perhaps deleted; nil when there is none, or when the server does not let it be looked up.
    private func lookUpDeleted(
        _ id: String,
        in table: TableDefinition,
        version: String?
    ) async throws -> PushAnswer? {
        do {
            guard let row = try await remote.record(id, in: table) else { return nil }
            let isThere = !row.isDeleted && (version == nil || row.version == version)
            return isThere ? .notDeleted(in: table) : PushAnswer(.shown(row))
        } catch let error as RemoteError where error.code == .unfitRow {
            let found = error.serverRecord?.version
            let isThere = version == nil || found == nil || found == version
            return isThere ? .notDeleted(in: table) : PushAnswer(.unfit(version: found), error)
        } catch let error as RemoteError where error.code != .refused || error.isWebPage {
            if error.isPerhapsAboutTheAddress { try await confirm(table) }
            var answer = PushAnswer(error, to: .lookUp)
            // It says nothing about the deletion.
            if case .aborted = answer.answer {
                answer.answer = .aborted(provesNothingWasDone: false)
            } else {
                answer.answer = .failed
            }
            return answer
        } catch is RemoteError {
            return nil
        }
    }
}

extension PushAnswer {
    /// Judges an error of the remote.
    ///
    /// - Parameters:
    ///   - error: What the remote threw. When it ``RemoteError/isPerhapsAboutTheAddress``, the table has been confirmed.
    ///   - request: What was sent.
    fileprivate init(_ error: RemoteError, to request: ItemRequest<Record>) {
        switch error.code {
        case _ where error.wouldShowTombstone: self.init(.wouldShowTombstone, error)
        case .conflict where request.isInsert && error.isAboutAnotherColumn:
            self.init(.refused(provesNothingWasDone: true), error)
        // That depends on other rows, and may be otherwise when the insert arrives that this was to keep away.
        case .conflict where request.isNewTombstone && error.isAboutAnotherColumn:
            self.init(.refused(provesNothingWasDone: false), error)
        case .conflict:
            let unfit = error.unfitCause.map { ItemAnswer<Record>.unfit(version: $0.serverRecord?.version) }
            self.init(error.serverRecord.map { .shown($0) } ?? unfit ?? .hidden, error)
        // The server has done it. The row is asked for, and set aside with the reason.
        case .unfitRow where request.isOfRow: self.init(.taken(nil), error)
        case .notFound where request.isOfKnownRow: self.init(.absent, error)
        // Those of a gateway and the like: the service was not reached, as far as that can be known.
        case .refused where error.isWebPage, .unauthorized, .unreachable, .throttled, .notTheService:
            self.init(
                .aborted(provesNothingWasDone: error.provesNothingWasDone),
                error,
                abort: SyncError(aborting: error)
            )
        case .storedUnderAnotherID: self.init(.storedUnderAnotherID, error)
        case .serverFailure, .invalidResponse: self.init(.failed, error)
        case _ where request.isNewTombstone:
            self.init(.refused(provesNothingWasDone: error.isAboutTheContent), error)
        default: self.init(.refused(provesNothingWasDone: error.provesNothingWasDone), error)
        }
    }

    /// What the server has shown of a row that does not fit its table.
    var unfitRow: Record? { error?.code == .unfitRow ? error?.serverRecord : nil }

    /// A deletion to which yes was said, or that there is no such row, while the row is there as it was.
    fileprivate static func notDeleted(in table: TableDefinition) -> PushAnswer {
        let message =
            "The deletion of a row in table '\(table.name)' was not confirmed, and the row is still there; the next push"
            + " deletes it again."
        return PushAnswer(.failed, RemoteError(.serverFailure, message))
    }

    /// A change that cannot be sent.
    fileprivate static func refused(_ message: String) -> PushAnswer {
        PushAnswer(.refused(provesNothingWasDone: true), RemoteError(.invalidRequest, message))
    }
}

extension ItemRequest {
    fileprivate var isInsert: Bool { if case .insert = self { true } else { false } }

    /// Whether a row is to be made as a deleted one.
    fileprivate var isNewTombstone: Bool { if case .tombstone(_, version: nil) = self { true } else { false } }

    /// Whether a row is written, which the answer shows.
    fileprivate var isOfRow: Bool {
        switch self {
        case .insert, .update, .tombstone, .fillTombstone: true
        case .delete, .lookUp: false
        }
    }

    /// Whether the row, when there is none, was there before.
    fileprivate var isOfKnownRow: Bool {
        switch self {
        case .update, .delete, .fillTombstone: true
        case .tombstone(_, let version): version != nil
        case .insert, .lookUp: false
        }
    }
}

extension RemoteError {
    /// That the server has a row that does not fit its table, and why; nil when this is something else.
    var unfitCause: RemoteError? {
        code == .unfitRow ? self : (cause as? RemoteError).flatMap { $0.code == .unfitRow ? $0 : nil }
    }

    /// Whether a new row is refused although none has its id that could be had: a column of it that has to be unique is taken,
    /// or what it refers to is not there. No version settles that, and nobody's row is to take its place.
    fileprivate var isAboutAnotherColumn: Bool { status == 409 && serverRecord == nil && cause == nil }

    /// Whether a page of something in front of the service, with a status of 400 to 499, has taken the place of its answer.
    var isPageInFront: Bool {
        guard let status else { return false }
        return isWebPage || code == .notTheService && (400..<500).contains(status)
    }

    /// Whether an address without the table would have answered the same.
    var isPerhapsAboutTheAddress: Bool {
        switch code {
        case .notFound, .invalidResponse: true
        case .conflict: status == 410 && serverRecord == nil
        case .notTheService: status.map { $0 < 500 } ?? false
        case .refused: status == 405 || status == 410
        default: false
        }
    }

    /// Whether the request did nothing and never will: it was not sent, or refused, in all its steps. Who forbids a request, or finds it too large, may stand in front
    /// of the server and have let an earlier copy of it pass.
    var provesNothingWasDone: Bool {
        guard code != .notTheService, !isWebPage, !wasPartlyDone else { return false }
        return switch status {
        case nil: wasNotSent || code == .invalidRequest
        case 403, 408, 413, 429: false
        case .some(let status): (400...499).contains(status)
        }
    }
}

extension RemoteError {
    /// Whether the service refuses what is in the row, so that it refuses every request with that: it is not valid, or cannot
    /// even be said. Other statuses may be about this one request.
    fileprivate var isAboutTheContent: Bool {
        provesNothingWasDone && (code == .invalidRequest || status == 400 || status == 422)
    }
}

extension SyncError {
    /// Ends a push.
    init(aborting error: RemoteError) {
        switch error.code {
        case .unauthorized:
            self.init(
                .pushAbortedAuthentication,
                "The server asks for authentication; sign in again and push: nothing was lost.",
                cause: error
            )
        case .notFound:
            self.init(
                .pushAbortedAddress,
                "The address does not have the table; the changes stay queued.",
                cause: error
            )
        default:
            self.init(
                .pushAbortedNetwork,
                "The server cannot take changes now; they stay queued and the next push sends them.",
                cause: error
            )
        }
    }
}
