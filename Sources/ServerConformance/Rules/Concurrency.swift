internal import ConformanceRunner

extension ServerRules {
    static let concurrency: [Entry] = [
        rule(
            "concurrency.equal-inserts",
            .both,
            "Of 20 inserts of one id at the same time exactly one is carried out.",
            in: "datasync-protocol 1.5; node-server-protocol2, Concurrency",
            "Sends them, three times over, counts the answers, and reads the row."
        ) { server in
            for _ in 0..<3 {
                let id = server.newID()
                let responses = try await server.atOnce(20) { index in
                    try await server.send("POST", nil, server.item(id, [.text: .string("insert \(index)")]))
                }
                let won = responses.filter(\.isSuccess)
                server.expectOne(won, of: responses, "20 inserts of the id '\(id)'", remark: nil)
                if won.count == 1 {
                    try await server.expectUnchanged(server.stored(won[0]), after: "20 inserts of one id")
                }
            }
        },
        rule(
            "concurrency.equal-inserts-status",
            .both,
            "The other inserts are 409; a genuine server may say 500 for some.",
            in: "datasync-protocol 1.5; node-server-protocol2, Concurrency",
            for: .nobody,
            "Sends 20 inserts of one id and looks at the answers."
        ) { server in
            let id = server.newID()
            for response in try await server.atOnce(20, { _ in try await server.send("POST", nil, server.item(id)) })
            where !response.isSuccess { server.expect(response, 409) }
        },
        rule(
            "concurrency.equal-updates",
            .both,
            "Of 20 updates with one version at the same time exactly one is carried out; the others are 412 or 409.",
            in: "datasync-protocol 1.5, 1.12; node-server-protocol2, Concurrency",
            "Sends them, three times over, counts the answers, and reads the row."
        ) { server in
            _ = try server.column(.text)
            for _ in 0..<3 {
                let row = try await server.insert()
                let responses = try await server.atOnce(20) { index in
                    try await server.update(row, [.text: .string("update \(index)")], headers: ["If-Match": row.tag])
                }
                let won = responses.filter(\.isSuccess)
                server.expectOne(won, of: responses, "20 updates with the version \(row.tag)")
                for response in responses where !response.isSuccess { server.expect(response, 409, 412) }
                if won.count == 1 {
                    try await server.expectUnchanged(try server.row(of: won[0]), after: "20 updates with one version")
                }
            }
        },
        rule(
            "concurrency.equal-deletions",
            .both,
            "Of 10 deletions with one version at the same time exactly one is carried out.",
            in: "datasync-protocol 1.5, 1.12",
            "Sends them, counts the answers, and reads the row."
        ) { server in
            let row = try await server.insert()
            let responses = try await server.atOnce(10) { _ in
                try await server.send("DELETE", row.id, headers: ["If-Match": row.tag])
            }
            server.expectOne(responses.filter(\.isSuccess), of: responses, "10 deletions with the version \(row.tag)")
            server.expect(try await server.send("GET", row.id), 404, 410, after: "10 deletions")
        },
        rule(
            "concurrency.update-or-deletion",
            .both,
            "Of updates and deletions with one version at the same time exactly one is carried out.",
            in: "datasync-protocol 1.5, 1.12",
            "Sends 5 of each, three times over, and counts the answers."
        ) { server in
            _ = try server.column(.text)
            for _ in 0..<3 {
                let row = try await server.insert()
                let headers = ["If-Match": row.tag]
                let responses = try await server.atOnce(10) { index in
                    index % 2 == 0
                        ? try await server.update(row, [.text: "changed"], headers: headers)
                        : try await server.send("DELETE", row.id, headers: headers)
                }
                server.expectOne(
                    responses.filter(\.isSuccess),
                    of: responses,
                    "5 updates and 5 deletions with the version \(row.tag)"
                )
            }
        },
        rule(
            "concurrency.equal-restores",
            .both,
            "Of 10 requests that bring a row back under one version at the same time exactly one is carried out.",
            in: "datasync-protocol 1.5, 1.12; node-server-protocol2, Concurrency",
            for: .softDelete,
            "Deletes a row, sends them, three times over, counts the answers, and reads the row."
        ) { server in
            for _ in 0..<3 {
                let row = try await server.insert()
                try await server.delete(row)
                guard let tombstone = try await server.listed(row.id) else { return }
                let responses = try await server.atOnce(10) { _ in
                    try await server.restore(row, headers: ["If-Match": tombstone.tag])
                }
                let won = responses.filter(\.isSuccess)
                server.expectOne(won, of: responses, "10 restores with the version \(tombstone.tag)")
                if won.count == 1 {
                    try await server.expectUnchanged(server.stored(won[0]), after: "10 restores with one version")
                }
            }
        },
        rule(
            "concurrency.inserts",
            .both,
            "Inserts of different ids at the same time all succeed, and none is lost.",
            in: "node-server-protocol2, Concurrency",
            "Sends 40 inserts at the same time and reads each row."
        ) { server in
            let ids = (0..<40).map { _ in server.newID() }
            let responses = try await server.atOnce(40) { try await server.send("POST", nil, server.item(ids[$0])) }
            for response in responses { server.expect(response, 201) }
            for response in try await server.atOnce(40, { try await server.send("GET", ids[$0]) }) {
                server.expect(response, 200, after: "40 inserts")
            }
        },
        rule(
            "concurrency.updates",
            .both,
            "Unconditional updates at the same time leave the row as one of them made it.",
            in: "datasync-protocol 1.5",
            "Sends 10 updates of text and number together, and holds the row against the answers."
        ) { server in
            _ = try server.column(.text)
            let row = try await server.insert([.number: 100.0])
            let responses = try await server.atOnce(10) { index in
                var values: [ColumnKind: JSON] = [.text: .string("update \(index)")]
                if server.profile.columns[.number] != nil { values[.number] = .number(Double(index)) }
                return try await server.update(row, values)
            }
            let rows = try responses.filter(\.isSuccess).map { try server.row(of: $0) }
            let now = try await server.read(row.id)
            server.trial.expect(
                rows.contains { $0 == now },
                "10 updates of one row at the same time; GET",
                expected: "the row as one of the answers has it",
                got: "\(brief(now as Any))"
            )
        },
        rule(
            "concurrency.stamps",
            .both,
            "Rows appear in the order of their stamps: none turns up behind a stamp that was read before.",
            in: "datasync-genuine III 1, I 1.12; datasync-protocol 7.2",
            for: .nobody,
            "Six writers insert for some seconds while one reader asks again and again for what is there."
        ) { server in try await server.watchStamps() },
    ]
}

extension ServerTrial {
    /// Sends so many requests at the same time.
    func atOnce(
        _ count: Int,
        _ send: @escaping @Sendable (Int) async throws -> ServerResponse
    ) async throws -> [ServerResponse] {
        try await withThrowingTaskGroup(of: (Int, ServerResponse).self) { group in
            for index in 0..<count { group.addTask { (index, try await send(index)) } }
            var responses: [(Int, ServerResponse)] = []
            for try await response in group { responses.append(response) }
            return responses.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Reports when not exactly one of several requests was carried out; with a remark when it was more than one.
    fileprivate func expectOne(
        _ won: [ServerResponse],
        of responses: [ServerResponse],
        _ input: String,
        remark: String? = ServerTrial.tokenAdvice
    ) {
        guard won.count != 1 else { return }
        trial.report(
            "\(input) at the same time",
            expected: "one success",
            got: "\(won.count) successes: \(responses.map(\.status))",
            remark: won.count > 1 ? remark : nil
        )
    }

    /// What to do about lost updates.
    fileprivate static var tokenAdvice: String {
        "an update is lost: mark Version as a concurrency token in the server's model ([Timestamp], IsConcurrencyToken), or"
            + " compare it in the statement that writes"
    }
}
