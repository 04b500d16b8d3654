internal import ConformanceRunner
internal import RemoteContract
internal import SyncContract
internal import Synchronization

// Two who write at the same time.
extension RemoteRules {
    private static let otherVersion = "when the server's version is another one,"

    static let racing: [RemoteRule] = [
        rule(
            "conflict.change-between-requests",
            otherVersion,
            in: "SyncRemote.update",
            "Updates and deletes a row under its version, and inserts one, while another client changes that row, or makes one"
                + " with that id, right before the first, the second or the third request of the call: a conflict with what is"
                + " there now, unless the call's own change was made by then."
        ) { trial in
            for number in 1...3 {
                let (updated, deleted, inserted) = ("updated-\(number)", "deleted-\(number)", "inserted-\(number)")
                let rows = try await trial.make(updated, deleted)
                let remote = trial.remote
                try await trial.expectOvertaken("update", of: updated, at: number, .change(updated, .theirs)) {
                    let row = Record.local(updated)
                    return try await remote.update(row, in: .items, version: rows[0].version, restoring: false)
                }
                try await trial.expectOvertaken("deletion", of: deleted, at: number, .change(deleted, .theirs)) {
                    try await remote.delete(deleted, from: .items, version: rows[1].version)
                }
                try await trial.expectOvertaken("insert", of: inserted, at: number, .insert(.item(inserted))) {
                    try await remote.insert(.local(inserted), into: .items)
                }
            }
        },
        rule(
            "conflict.two-at-once",
            otherVersion,
            in: "SyncRemote.update",
            "Has two remotes update one row under one version at the same time, one update and one delete it, and both insert it,"
                + " ten times each: one of the two is taken, the other one is told of the conflict, at the latest when it is sent again"
                + " after the back end has failed on it, and the back end has what the first one wrote."
        ) { trial in
            let (one, other) = (trial.remote, try await trial.world.makeRemote())
            for round in 0..<10 {
                let id = "row-\(round)"
                let rows = [Record.local(id, ["text": "first"]), Record.local(id, ["text": "second"])]
                try await trial.expectOneTaken(
                    "inserts of one row",
                    of: id,
                    { try await one.insert(rows[0], into: .items) },
                    { try await other.insert(rows[1], into: .items) }
                )
                let version = try await trial.existing(id).version
                try await trial.expectOneTaken(
                    "updates of one row under one version",
                    of: id,
                    { try await one.update(rows[0], in: .items, version: version, restoring: false) },
                    { try await other.update(rows[1], in: .items, version: version, restoring: false) }
                )
                // Without tombstones, whoever comes second does not find the row.
                guard trial.keepsDeletedRows else { continue }
                let next = try await trial.existing(id).version
                try await trial.expectOneTaken(
                    "an update and a deletion of one row under one version",
                    of: id,
                    { try await one.update(rows[0], in: .items, version: next, restoring: false) },
                    {
                        try await other.delete(id, from: .items, version: next)
                        return nil
                    }
                )
            }
        },
        rule(
            "update.in-parallel",
            "Writes a row and returns it as the server keeps it, system properties included.",
            in: "SyncRemote.update",
            "Inserts 20 rows and updates 20 others by one remote, all at the same time and beside a pull: every answer is that of"
                + " its own row, as the back end has it, and the pull has no row that is none."
        ) { trial in
            try await trial.makeRows(20)
            let remote = trial.remote
            let versions = try await trial.world.rows()
                .reduce(into: [String: String]()) { $0[$1.id.stringValue ?? ""] = $1.version }
            async let pulled = trial.pulledIDs()
            let answers = try await withThrowingTaskGroup(
                of: (Record, Record).self,
                returning: [(Record, Record)].self
            ) { group in
                for number in 0..<20 {
                    group.addTask {
                        let row = Record.local("new-\(number)", ["number": .double(Double(number) + 0.25)])
                        return (row, try await remote.insert(row, into: .items))
                    }
                    group.addTask {
                        let id = "row-\(number)"
                        let row = Record.local(id, ["number": .double(Double(number) + 0.75), "extra": "kept"])
                        let version = versions[id]
                        return (row, try await remote.update(row, in: .items, version: version, restoring: false))
                    }
                }
                var answers: [(Record, Record)] = []
                for try await answer in group { answers.append(answer) }
                return answers
            }
            for (sent, answer) in answers {
                let id = sent.id.stringValue ?? ""
                trial.expect(answer, hasContentOf: sent, "the answer to a change of '\(id)' beside 39 others")
                try await trial.expect(answer, isAsInBackEnd: id, "the answer to a change of '\(id)' beside 39 others")
            }
            let known = Set(try await trial.world.rows().compactMap(\.id.stringValue))
            let (found, old) = (try await pulled, Set(versions.keys))
            trial.trial.expect(
                found.isSubset(of: known) && found.isSuperset(of: old),
                "a pull beside 40 changes",
                expected: "all rows of before, and none that is not there",
                got: shown(found.symmetricDifference(old))
            )
        },
    ]
}

extension [String: FieldValue] {
    /// What another client changes.
    fileprivate static let theirs: [String: FieldValue] = ["text": "theirs"]
}

/// The row as another client has left it, once that has happened.
private final class Overtaking: Sendable {
    let row = Mutex<Record?>(nil)
}

extension RemoteTrial {
    /// The ids of a pull of everything, a few rows at a time.
    fileprivate func pulledIDs() async throws -> Set<String> {
        var replica = Replica(remote, trial, pageSize: 3)
        try await replica.pull(from: .everything)
        return Set(replica.rows.keys)
    }

    /// Has another client come first, right before a request of a call, unless the call's change is made by then; reports
    /// a call that was overtaken and is no conflict, one that was not and fails, and a change of the other's that is lost.
    fileprivate func expectOvertaken(
        _ name: String,
        of id: String,
        at number: Int,
        _ change: BackEndChange,
        _ call: @Sendable () async throws -> Any?
    ) async throws {
        let overtaking = Overtaking()
        let before = try await row(id)?.essence
        let trial = self
        try await world.before(request: number) {
            guard try await trial.row(id)?.essence == before else { return }
            try await trial.world.write([change])
            let row = try await trial.existing(id)
            overtaking.row.withLock { $0 = row }
        }
        let result: Result<Any?, any Error>
        do {
            result = .success(try await call())
        } catch {
            result = .failure(error)
        }
        try await world.before(request: 1, nil)
        let input = "\(name) while another client comes first before request \(number)"
        guard let theirs = overtaking.row.withLock({ $0 }) else {
            do {
                _ = try result.get()
            } catch let error as RemoteError {
                self.trial.report(name, expected: "success", got: brief(error))
            }
            return
        }
        try await expectConflict(withRow: id, from: input) { try result.get() }
        expect(try await row(id), isLike: theirs, input + "; the row in the back end afterwards")
    }

    /// Reports when not exactly one of two calls at the same time is taken, or when the back end has not what it wrote.
    fileprivate func expectOneTaken(
        _ input: String,
        of id: String,
        _ one: @escaping @Sendable () async throws -> Record?,
        _ other: @escaping @Sendable () async throws -> Record?
    ) async throws {
        async let first = result(of: one)
        async let second = result(of: other)
        let results = [await first, await second]
        let row = try await row(id)
        var taken = 0
        for (number, result) in results.enumerated() {
            switch result {
            case .success(let answer?):
                taken += 1
                expect(row, isLike: answer, "\(input) at the same time; the row of the one that was taken")
            case .success(nil):
                taken += 1
                let isGone = row?.isDeleted ?? true
                trial.expect(isGone, input + " at the same time", expected: "no live row", got: shown(row))
            case .failure(let error):
                let input = "\(input) at the same time, the \(number == 0 ? "first" : "second")"
                // Servers are known that fail on whoever comes second: then the call has to be sent again.
                let isFailure = (error as? RemoteError)?.code == .serverFailure
                let again = number == 0 ? one : other
                try await expectConflict(withRow: id, from: isFailure ? input + ", sent again" : input) {
                    isFailure ? try await again() : try result.get()
                }
            }
        }
        trial.expect(taken, equals: 1, input + " at the same time; how many are taken")
    }

    private func result(of call: @Sendable () async throws -> Record?) async -> Result<Record?, any Error> {
        do {
            return .success(try await call())
        } catch {
            return .failure(error)
        }
    }
}
