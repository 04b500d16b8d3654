internal import ConformanceRunner
internal import Synchronization

/// One run of one rule: the requests it sends, the rows it makes, and where it says what is wrong.
final class ServerTrial: Sendable {
    let trial: Trial<ServerSubject>
    let profile: ServerProfile
    let client: ServerClient
    let subject: ServerSubject
    private let ids = Mutex<[String]>([])

    init(_ trial: Trial<ServerSubject>) async throws {
        self.trial = trial
        subject = trial.subject
        client = trial.subject.client
        profile = try await trial.subject.profile()
    }

    /// What the server speaks.
    var speaks: ServerProtocol { client.serverProtocol }

    /// The rule cannot go on; what is wrong was reported.
    struct Stopped: Error {}

    /// Runs a rule and deletes its rows, whatever becomes of it.
    static func run(
        _ trial: Trial<ServerSubject>,
        _ body: ServerRules.Body
    ) async throws {
        let server = try await ServerTrial(trial)
        trial.afterwards { await server.deleteRows() }
        do {
            try await body(server)
        } catch is Stopped {
            // It was reported.
        } catch let error as NoResponse {
            if error.isUnreachable { trial.subject.noteLostResponse() }
            trial.report(error.request, expected: "an answer", got: error.reason)
        }
    }

    // MARK: Rows

    /// An id for a row of this rule. The row is deleted after the rule, whether it was made or not.
    func newID(_ end: String = "") -> String {
        let id = subject.ledger.newID(end)
        ids.withLock { $0.append(id) }
        return id
    }

    /// A name that no other run has.
    var runName: String { subject.ledger.prefix }

    /// An id for a row that later rules read as well.
    func newSharedID() -> String { subject.ledger.newID() }

    /// Notes a row whose id the server chose.
    func note(_ id: String) {
        subject.ledger.note(id)
        ids.withLock { $0.append(id) }
    }

    private func deleteRows() async {
        let (client, ledger, ids) = (client, subject.ledger, ids.withLock { $0 })
        // A rule that was given up has a cancelled task; its rows are deleted all the same.
        await Task.detached { await ledger.delete(ids, with: client) }.value
    }

    /// The ids of the rows for paging.
    func pageRows(_ make: @escaping @Sendable () async throws -> [String]) async throws -> [String] {
        try await subject.pageRows(make)
    }

    // MARK: Requests

    func send(_ request: ServerRequest, path: String? = nil) async throws -> ServerResponse {
        try await client.send(request, path: path)
    }

    func send(
        _ method: String,
        _ id: String? = nil,
        query: [(String, String)] = [],
        headers: [String: String?] = [:],
        _ body: JSON? = nil
    ) async throws -> ServerResponse {
        try await send(
            ServerRequest(
                method: method,
                suffix: id.map { ServerRequest.path(of: $0) } ?? "",
                query: query,
                headers: headers,
                body: try body?.bytes
            )
        )
    }

    // MARK: Findings

    /// Reports an answer that is not as it must be.
    func report(_ response: ServerResponse, expected: String, after steps: String = "") {
        trial.report(
            steps.isEmpty ? response.request : "\(steps); \(response.request)",
            expected: expected,
            got: "\(response)"
        )
    }

    /// Reports an answer with another status; says whether it has one of those.
    @discardableResult
    func expect(_ response: ServerResponse, _ statuses: Int..., after steps: String = "") -> Bool {
        if statuses.contains(response.status) { return true }
        let words = statuses.map(String.init).joined(separator: " or ")
        report(response, expected: "the status \(words)", after: steps)
        return false
    }

    /// Reports an answer with another status, and ends the rule then.
    func require(_ response: ServerResponse, _ statuses: Int..., after steps: String = "") throws {
        if statuses.contains(response.status) { return }
        let words = statuses.map(String.init).joined(separator: " or ")
        report(response, expected: "the status \(words)", after: steps)
        throw Stopped()
    }

    /// Reports an answer when something about it is not right.
    func expect(
        _ isRight: Bool,
        _ response: ServerResponse,
        _ expected: @autoclosure () -> String,
        after steps: String = ""
    ) {
        if !isRight { report(response, expected: expected(), after: steps) }
    }
}
