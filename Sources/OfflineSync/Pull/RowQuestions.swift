internal import RemoteContract
internal import SyncContract

/// Rows that are to be asked for by their ids, many at a time. A question that the server has something against is asked in
/// halves, so that one row takes nothing from the others. Where it answers none, it is not asked for row after row. Pure.
struct RowQuestions: Sendable {
    /// What has come of a question.
    enum Outcome: Sendable {
        case answered([RecordID])
        /// It is asked again, in halves.
        case halved
        /// No question can be asked for this row, but for others.
        case refused(RecordID, SyncError)
        /// These are asked for no more: too many questions were not answered, one after the other.
        case givenUp([RecordID], SyncError)
    }

    /// What may be about one row while the server answers for others, where a question is about rows that may never come.
    static let passedOver: Set<RemoteError.Code> = [
        .invalidRequest, .invalidResponse, .refused, .serverFailure, .unreachable, .notTheService,
    ]

    // As many ids as fit into a filter that every server takes.
    static let mostRows = 25
    /// As many questions as it takes to ask for each row of one on its own.
    static let allParts = 2 * mostRows - 1
    /// A row is found in five parts of a question, and the one beside it may fail as well.
    static let fewParts = 6

    private let codes: Set<RemoteError.Code>
    private let mostFailures: Int
    /// The next one is the last.
    private var questions: [ArraySlice<RecordID>] = []
    private var failures = 0

    /// Questions that may fail with some codes, and a number of times one after the other.
    init(_ ids: [RecordID] = [], passingOver codes: Set<RemoteError.Code>, mostFailures: Int) {
        (self.codes, self.mostFailures) = (codes, mostFailures)
        add(ids)
    }

    /// Adds rows, which are asked for behind the others.
    mutating func add(_ ids: [RecordID]) {
        let added = stride(from: 0, to: ids.count, by: Self.mostRows).reversed()
            .map { ids[$0..<min($0 + Self.mostRows, ids.count)] }
        questions = added + questions
    }

    /// The next question, for as many rows as one may be about; nil when all were asked.
    mutating func next() -> [RecordID]? { questions.popLast().map(Array.init) }

    /// Takes in that a question was answered.
    mutating func answered(_ ids: [RecordID]) -> Outcome {
        failures = 0
        return .answered(ids)
    }

    /// Takes in that a question was not answered.
    ///
    /// - Throws: The error, when it says nothing about the question.
    mutating func failed(_ ids: [RecordID], _ error: SyncError) throws -> Outcome {
        guard let code = (error.cause as? RemoteError)?.code, codes.contains(code) else { throw error }
        failures += 1
        guard failures <= mostFailures else {
            let left = questions.reversed().reduce(ids, +)
            questions = []
            return .givenUp(left, error)
        }
        guard ids.count > 1 else { return .refused(ids[0], error) }
        let middle = ids.count / 2
        questions += [ids[middle...], ids[..<middle]]
        return .halved
    }
}

extension PullRunner {
    /// Asks the next of some questions, and hands over the pages of its answer: what the server has of its rows that a query
    /// is about, shown to a pull with some parameters.
    ///
    /// - Returns: What has come of it; nil when all were asked.
    func ask(
        _ questions: inout RowQuestions,
        of query: Query,
        _ parameters: [String: String],
        _ take: (Fetched) async throws -> Void
    ) async throws -> RowQuestions.Outcome? {
        guard let ids = questions.next() else { return nil }
        do {
            let asked = query.filtered(by: Column("id").isAny(of: ids.map(\.fieldValue)))
            var machine = PullMachine(.everything, of: table)
            var position: PullPosition? = .everything
            while let current = position {
                let fetched = try await fetch(asked, at: current, pageSize, parameters)
                position = try machine.next(after: fetched.page)
                try await take(fetched)
            }
        } catch let error as SyncError {
            let outcome = try questions.failed(ids, error)
            if let cause = error.cause as? RemoteError, cause.isPerhapsOfAll {
                guard try await confirms() else { throw error }
            }
            return outcome
        }
        return questions.answered(ids)
    }
}
