internal import RemoteContract
internal import SyncContract

/// Local rows besides which the server may have others whose ids differ in case only. Until it was asked for them nothing of
/// a page is written.
struct SuspectedRows: Error {
    let ids: Set<RecordID>
}

extension PullRunner {
    /// Asks for local rows by their ids, many at a time: a server that keeps two rows apart has one in this very spelling.
    /// Where it has none, or the one with the other spelling, the row was removed for good and made anew. What it does not
    /// answer leaves the row that is here.
    ///
    /// - Returns: Whether the server has them.
    func spellings(of suspected: Set<RecordID>) async throws -> [RecordID: Bool] {
        let ids = Array(suspected)
        let translation = IdentifierTranslation(table, store.schema)
        let serverIDs = try await store.read { try translation.serverIDs(of: ids, &$0) }
        var spellings: [RecordID: Bool] = [:]
        for start in stride(from: 0, to: ids.count, by: Self.rowsPerRequest) {
            let some = start..<min(start + Self.rowsPerRequest, ids.count)
            let found = try await found(among: Array(serverIDs[some]))
            for (id, serverID) in zip(ids[some], serverIDs[some]) { spellings[id] = found.contains(serverID) }
        }
        return spellings
    }

    /// Those of some ids that the server has, to a pull with these parameters or to one without.
    private func found(among ids: [RecordID]) async throws -> Set<RecordID> {
        var found: Set<RecordID> = []
        let query = Query(table.name).filtered(by: Column("id").isAny(of: ids.map(\.fieldValue)))
        do {
            for parameters in parameters.isEmpty ? [[:]] : [parameters, [:]] {
                var machine = PullMachine(.everything, of: table)
                var position: PullPosition? = .everything
                while let current = position {
                    try Task.checkCancellation()
                    let page = try await remote.page(
                        query,
                        of: table,
                        at: current,
                        pageSize: pageSize,
                        parameters: parameters
                    )
                    position = try machine.receive(page)
                    found.formUnion(page.records.lazy.map(\.id))
                    found.formUnion(page.setAside.lazy.map { .string($0.id) })
                }
            }
        } catch let error as RemoteError {
            guard [.invalidRequest, .invalidResponse, .refused, .serverFailure].contains(error.code) else {
                throw Self.aborted(error)
            }
            return Set(ids)
        } catch is PullMachine.Endlessness {
            return Set(ids)
        }
        return found
    }
}
