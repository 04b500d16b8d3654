internal import ConformanceRunner
internal import RemoteContract
internal import SyncContract

extension RemoteRules {
    private static let sentence =
        "Cancelling the calling task ends a request early with `CancellationError`; the server may still have carried it out."

    static let cancelling: [RemoteRule] = [
        rule(
            "cancel.ends-early",
            sentence,
            in: "SyncRemote",
            "Has requests hang, starts every call, and cancels it once the request has arrived: it ends at once, with"
                + " CancellationError."
        ) { trial in
            try await trial.makeRows(3)
            let calls = try await trial.calls()
            for (name, call) in calls {
                let before = try await trial.world.requestCount()
                try await trial.meeting(.silence) {
                    let task = Task { try await call() as? Never }
                    while try await trial.world.requestCount() == before { await Task.yield() }
                    let clock = ContinuousClock()
                    let start = clock.now
                    task.cancel()
                    await trial.expectCancellation(task, "'\(name)' that hangs and is cancelled")
                    let took = clock.now - start
                    trial.trial.expect(
                        took < .seconds(trial.trial.settings.patience),
                        "'\(name)' that hangs and is cancelled",
                        expected: "an end at once",
                        got: "an end after \(took)"
                    )
                }
            }
        },
        rule(
            "cancel.before",
            sentence,
            in: "SyncRemote",
            "Makes every call in a task that is cancelled already: CancellationError, and no change is made."
        ) { trial in
            try await trial.makeRows(3)
            let before = try await trial.world.rows()
            for (name, call) in try await trial.calls() {
                let task = Task {
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    return try await call() as? Never
                }
                await trial.expectCancellation(task, "'\(name)' in a cancelled task")
            }
            let same = Set(try await trial.world.rows().map(\.essence)) == Set(before.map(\.essence))
            trial.trial.expect(
                same,
                "calls in cancelled tasks",
                expected: "no change",
                got: "other rows in the back end"
            )
        },
    ]

    static let batches: [RemoteRule] = [
        rule(
            "batch.maximum",
            "1 or more: 1 by default.",
            in: "SyncRemote.maximumBatchSize",
            "Asks how many operations a batch takes, and sends none: one at least, and no request."
        ) { trial in
            let size = trial.remote.maximumBatchSize
            trial.trial.expect(size >= 1, "maximumBatchSize", expected: "1 or more", got: "\(size)")
            let before = try await trial.world.requestCount()
            trial.trial.expect(try await trial.remote.send([]).count, equals: 0, "answers to a batch of none")
            trial.trial.expect(try await trial.world.requestCount() - before, equals: 0, "requests of a batch of none")
        },
        rule(
            "batch.answers",
            "What became of each, in the order of the batch:",
            in: "SyncRemote.send",
            "Sends inserts, updates and deletions, also under older versions and of deleted rows, in batches as large as"
                + " allowed: one answer each, in their order, what the single calls say, and those behind a conflict are made."
        ) { trial in
            try await trial.expectBatch()
        },
        rule(
            "batch.is-one-request",
            "Sends changes together;",
            in: "SyncRemote.send",
            needs: RemoteSubject.batches,
            "Sends two inserts in one batch, by a remote that takes more than one at a time: one request."
        ) { trial in
            let before = try await trial.world.requestCount()
            _ = try await trial.remote.send([.insert(.local("a"), into: .items), .insert(.local("b"), into: .items)])
            trial.trial.expect(try await trial.world.requestCount() - before, equals: 1, "requests of a batch of two")
        },
        rule(
            "batch.failure",
            "which then say the same of every operation.",
            in: "SyncRemote.send",
            "Loses a batch before it arrives: every operation is told that the server was not reached."
        ) { trial in
            let batch = ["a", "b", "c"].prefix(trial.remote.maximumBatchSize)
                .map { RemoteOperation.insert(.local($0), into: .items) }
            try await trial.meeting(.requestLost) {
                do {
                    for answer in try await trial.remote.send(batch) { _ = try answer.get() }
                    trial.trial.report("a batch that is lost", expected: "errors", got: "answers")
                } catch let error as RemoteError {
                    trial.trial.expect(
                        error.code == .unreachable,
                        "a lost batch",
                        expected: ".unreachable",
                        got: brief(error)
                    )
                }
            }
        },
    ]
}

extension RemoteTrial {
    fileprivate func expectCancellation(_ task: Task<Never?, any Error>, _ input: String) async {
        do {
            _ = try await task.value
            trial.report(input, expected: "CancellationError", got: "an answer")
        } catch is CancellationError {
            // As promised.
        } catch {
            trial.report(input, expected: "CancellationError", got: brief(error))
        }
    }

    /// What a batch is made of: the operation, the row in the way where it is a conflict, and the code it fails with.
    private struct Member {
        var operation: RemoteOperation
        var code: RemoteError.Code?

        init(_ operation: RemoteOperation, _ code: RemoteError.Code? = nil) {
            (self.operation, self.code) = (operation, code)
        }

        var id: String {
            switch operation {
            case .insert(let record, _), .update(let record, _, _, _): record.id.stringValue ?? ""
            case .delete(let id, _, _): id
            }
        }
    }

    fileprivate func expectBatch() async throws {
        let (old, _) = try await makeChanged("changed")
        let (stale, _) = try await makeChanged("stays")
        let rows = try await make("free", "gone", "taken")
        var members = [
            Member(.insert(.local("new"), into: .items)),
            Member(.update(.local("changed"), in: .items, version: old.version, restoring: false), .conflict),
            Member(.update(.local("free"), in: .items, version: rows[0].version, restoring: false)),
            Member(.insert(.local("taken"), into: .items), .conflict),
            Member(.delete("gone", from: .items, version: rows[1].version)),
            Member(.delete("stays", from: .items, version: stale.version), .conflict),
            Member(.update(.local("unknown"), in: .items, version: nil, restoring: false), .notFound),
        ]
        var expected: Set = ["changed", "stays", "free", "taken", "new", "last"]
        if keepsDeletedRows {
            let live = try await make("other")[0]
            try await world.write([.delete("other")])
            let (dead, back) = (try await makeTombstone("dead"), try await makeTombstone("back"))
            members += [
                Member(.update(.local("dead"), in: .items, version: dead.version, restoring: false), .conflict),
                Member(.update(.local("other"), in: .items, version: live.version, restoring: true), .conflict),
                Member(.update(.local("back"), in: .items, version: back.version, restoring: true)),
            ]
            expected.insert("back")
        }
        members.append(Member(.insert(.local("last"), into: .items)))
        var answers: [Result<RemoteOperationAnswer, any Error>] = []
        for start in stride(from: 0, to: members.count, by: remote.maximumBatchSize) {
            let end = min(start + remote.maximumBatchSize, members.count)
            answers += try await remote.send(members[start..<end].map(\.operation))
        }
        guard answers.count == members.count else {
            return trial.report("a batch", expected: "\(members.count) answers", got: "\(answers.count)")
        }
        for (index, answer) in answers.enumerated() {
            let (input, id) = ("operation \(index + 1) of a batch", members[index].id)
            switch (answer, members[index].code) {
            case (.success(.row(let record)), nil): try await expect(record, isAsInBackEnd: id, input)
            case (.success(.deletion(let deletion)), nil): trial.expect(deletion, equals: .confirmed, input)
            case (.failure(let error as RemoteError), let code?):
                trial.expect(error.code == code, input, expected: ".\(code)", got: brief(error))
                guard code == .conflict else { continue }
                try await expect(error.serverRecord, isAsInBackEnd: id, input + "; the error's serverRecord")
            case (.success, let code?): trial.report(input, expected: ".\(code)", got: "success")
            case (.failure(let error), _): trial.report(input, expected: "success or a RemoteError", got: brief(error))
            }
        }
        let live = try await world.rows().filter { !$0.isDeleted }.compactMap(\.id.stringValue)
        trial.expect(Set(live), equals: expected, "live rows after a batch")
    }
}
