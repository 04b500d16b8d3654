internal import ConformanceRunner
internal import RemoteContract
internal import SyncContract

extension RemoteRules {
    static let failing: [RemoteRule] = [
        failure(
            "failure.request-lost",
            .requestLost,
            [.unreachable],
            "The server could not be reached, or the connection broke; whether it acted is not known.",
            in: "RemoteError.Code.unreachable",
            "Loses requests before they arrive: every call says that the server was not reached."
        ),
        failure(
            "failure.unauthorized",
            .unauthorized,
            [.unauthorized],
            "The server asks for authentication (401), or refuses what was given.",
            in: "RemoteError.Code.unauthorized",
            "Has the back end ask for somebody signed in: every call says so, and no answer is taken for an empty table or a"
                + " missing row."
        ),
        failure(
            "failure.throttled",
            .throttled,
            [.throttled],
            "The server asks to come back later (408, 429, 503).",
            in: "RemoteError.Code.throttled",
            "Has the back end ask to come back later: every call says so."
        ),
        failure(
            "failure.server",
            .serverFailure,
            [.serverFailure],
            "The server failed (any other status from 500).",
            in: "RemoteError.Code.serverFailure",
            "Has the back end fail: every call says so."
        ),
        rule(
            "failure.retry-after",
            "How long the server asks to wait before the next request;",
            in: "RemoteError.retryAfter",
            "Has the back end ask to come back in seven seconds: every call says when."
        ) { trial in
            try await trial.makeRows(3)
            try await trial.meeting(.throttled) {
                for (name, call) in try await trial.calls() {
                    let input = "'\(name)' when the back end asks to wait for seven seconds"
                    let error = try await trial.expectError(.throttled, from: input, call)
                    trial.trial.expect(error?.retryAfter, equals: .seconds(7), input + "; retryAfter")
                }
            }
        },
        rule(
            "failure.refused",
            "The server refused the request (any other status from 400 to 499).",
            in: "RemoteError.Code.refused",
            "Has the back end refuse whatever is asked: changes, readings and pulls say so, and nothing is taken for done."
        ) { trial in
            try await trial.makeRows(3)
            try await trial.meeting(.refused) {
                for (name, call) in try await trial.calls() where name != "confirm" {
                    try await trial.expectError(.refused, from: "'\(name)' that is refused", call)
                }
            }
        },
        rule(
            "failure.answer-lost",
            "A change is sent once: whether it is sent again is for the engine to decide.",
            in: "SyncRemote",
            "Loses the answers to an insert, an update and a deletion: the server was not reached, as far as the error says,"
                + " the change was made, and one request was sent for each."
        ) { trial in
            try await trial.makeRows(3)
            let calls = try await trial.calls().filter { ["insert", "update", "delete"].contains($0.name) }
            for (name, call) in calls {
                let before = try await trial.world.requestCount()
                try await trial.meeting(.answerLost) {
                    try await trial.expectError(.unreachable, from: "'\(name)' whose answer is lost", call)
                }
                let sent = try await trial.world.requestCount() - before
                trial.trial.expect(sent, equals: 1, "requests of '\(name)' whose answer is lost")
            }
            let live = try await trial.world.rows().filter { !$0.isDeleted }.compactMap(\.id.stringValue)
            trial.trial.expect(
                Set(live),
                equals: ["new", "row-0", "row-2"],
                "live rows after changes whose answers are lost"
            )
        },
        rule(
            "failure.sent-once",
            "A change is sent once: whether it is sent again is for the engine to decide.",
            in: "SyncRemote",
            "Loses the requests of an insert, an update and a deletion, has the back end fail, ask to come back later, and refuse"
                + " them: one request was sent for each, and no change is made."
        ) { trial in
            try await trial.makeRows(3)
            let rows = Set(try await trial.world.rows().map(\.essence))
            let calls = try await trial.calls().filter { ["insert", "update", "delete"].contains($0.name) }
            for fault in [RemoteFault.requestLost, .serverFailure, .throttled, .refused] {
                for (name, call) in calls {
                    let before = try await trial.world.requestCount()
                    try await trial.meeting(fault) {
                        do {
                            _ = try await call()
                        } catch is RemoteError {
                            // Which one is for the other rules.
                        }
                    }
                    let sent = try await trial.world.requestCount() - before
                    trial.trial.expect(sent, equals: 1, "requests of '\(name)' under the fault '\(fault)'")
                }
            }
            let isSame = Set(try await trial.world.rows().map(\.essence)) == rows
            trial.trial.expect(isSame, "changes that meet faults", expected: "no change", got: "other rows")
        },
        rule(
            "failure.passes",
            "It keeps no rows and makes no decision about conflicts.",
            in: "SyncRemote",
            "Has each fault met once by every call and then none: the same remote works as before."
        ) { trial in
            try await trial.makeRows(3)
            for fault in RemoteFault.allCases where fault != .silence && fault != .answerLost {
                try await trial.meeting(fault) {
                    for (_, call) in try await trial.calls() {
                        do {
                            _ = try await call()
                        } catch is RemoteError {
                            // Which one is for the other rules.
                        }
                    }
                }
            }
            try await trial.remote.confirm(trial.table)
            var replica = Replica(trial.remote, trial.trial, pageSize: 2)
            try await replica.pull()
            replica.expectSame(as: try await trial.world.rows(), "a pull after faults")
        },
    ]

    static let foreignAnswers: [RemoteRule] = [
        rule(
            "failure.foreign-answer",
            "and what the answer says of rows says nothing.",
            in: "RemoteError.Code.notTheService",
            "Has something else answer with success and a page for people: no change is taken for made, no row for missing, no"
                + " page for empty."
        ) { trial in
            try await trial.makeRows(3)
            try await trial.meeting(.foreignAnswer) {
                for (name, call) in try await trial.calls() where name != "confirm" && name != "delete" {
                    let input = "'\(name)' that a web page answers"
                    try await trial.expectError(.notTheService, .invalidResponse, from: input, call)
                }
            }
        },
        rule(
            "failure.foreign-answer-to-delete",
            "The row is deleted; nothing but a table answers like this.",
            in: "RemoteDeletion.confirmed",
            "Has something else answer a deletion with success and a page for people: not confirmed, or an error."
        ) { trial in
            try await trial.makeRows(1)
            try await trial.meeting(.foreignAnswer) {
                do {
                    let answer = try await trial.remote.delete("row-0", from: trial.table, version: nil)
                    let isRight = answer != .confirmed
                    trial.trial.expect(
                        isRight,
                        "deletion that a web page answers",
                        expected: "unconfirmed",
                        got: "\(answer)"
                    )
                } catch is RemoteError {
                    // As right.
                }
            }
        },
        rule(
            "confirm.foreign-answer",
            "when it answers with anything else than a page.",
            in: "SyncRemote.confirm",
            "Has something else answer with success and a page for people: no table is taken for there."
        ) { trial in
            try await trial.meeting(.foreignAnswer) {
                try await trial.expectError(
                    .notFound,
                    .notTheService,
                    .invalidResponse,
                    from: "confirmation that a web page answers"
                ) {
                    try await trial.remote.confirm(trial.table)
                }
            }
        },
    ]

    /// A rule about a fault that every call reports in one way.
    private static func failure(
        _ id: String,
        _ fault: RemoteFault,
        _ codes: [RemoteError.Code],
        _ sentence: String,
        in source: String,
        _ procedure: String
    ) -> RemoteRule {
        rule(id, sentence, in: source, procedure) { trial in
            try await trial.makeRows(3)
            try await trial.meeting(fault) {
                for (name, call) in try await trial.calls() {
                    try await trial.expectError(codes[0], from: "'\(name)' under the fault '\(fault)'", call)
                }
            }
        }
    }
}

extension RemoteTrial {
    typealias Call = @Sendable () async throws -> Any?

    /// Every call once, over rows from `row-0` on.
    func calls() async throws -> [(name: String, call: Call)] {
        let remote = remote
        let version = try await row("row-0")?.version
        return [
            ("insert", { try await remote.insert(.local("new"), into: .items) }),
            ("update", { try await remote.update(.local("row-0"), in: .items, version: version, restoring: false) }),
            ("delete", { try await remote.delete("row-1", from: .items, version: nil) }),
            ("record", { try await remote.record("row-2", in: .items) }),
            ("confirm", { try await remote.confirm(.items) }),
            ("page", { try await remote.page(Query("items"), of: .items, at: .changes(since: nil), pageSize: 2) }),
            ("everything", { try await remote.page(Query("items"), of: .items, at: .everything, pageSize: 2) }),
        ]
    }
}
