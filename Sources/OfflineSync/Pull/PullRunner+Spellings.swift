internal import RemoteContract
internal import SyncContract

/// Local rows besides which the server may have others whose ids differ in case only. Until it was asked for them nothing of
/// a page is written.
struct SuspectedRows: Error {
    let ids: Set<RecordID>
}

extension PullRunner {
    /// Asks for local rows by their ids: a server that keeps two rows apart has one in this very spelling, to a pull with
    /// these parameters or to one without. Where it has none, a tombstone, or the one with the other spelling, the row was
    /// removed and made anew.
    func spellings(of suspected: Set<RecordID>) async throws -> [RecordID: PageApplication.Spelling] {
        let ids = Array(suspected)
        let translation = IdentifierTranslation(table, store.schema)
        let serverIDs = try await store.read { try translation.serverIDs(of: ids, &$0) }
        var isThere: Set<RecordID> = []
        var isUnanswered: Set<RecordID> = []
        for parameters in parameters.isEmpty ? [[:]] : [parameters, [:]] {
            var questions = RowQuestions(
                serverIDs.filter { !isThere.contains($0) },
                passingOver: RowQuestions.passedOver,
                mostFailures: RowQuestions.fewParts
            )
            func take(_ fetched: Fetched) {
                isThere.formUnion(fetched.page.records.lazy.filter { !$0.isDeleted }.map(\.id))
                isThere.formUnion(fetched.page.setAside.lazy.map { .string($0.id) })
            }
            while let outcome = try await ask(&questions, of: Query(table.name), parameters, take) {
                switch outcome {
                case .answered, .halved: break
                case .refused(let id, _): isUnanswered.insert(id)
                case .givenUp(let ids, _): isUnanswered.formUnion(ids)
                }
            }
        }
        let spellings = serverIDs.map { id -> PageApplication.Spelling in
            if isThere.contains(id) { return .isThere }
            return isUnanswered.contains(id) ? .isUnanswered : .isGone
        }
        return Dictionary(uniqueKeysWithValues: zip(ids, spellings))
    }
}
