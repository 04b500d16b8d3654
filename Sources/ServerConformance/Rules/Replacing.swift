internal import ConformanceRunner

extension ServerRules {
    static let replacing: [Entry] = [
        rule(
            "replace.values",
            .protocol3,
            "PUT replaces a row: 200, and the answer is the row with the new values.",
            in: "datasync-protocol 1.5, 6.3 #16",
            "Replaces a row with other values in every column."
        ) { server in
            let row = try await server.insert([.text: "old", .boolean: false, .number: 1.0])
            let values: [ColumnKind: JSON] = [.text: "new", .boolean: true, .number: 2.0]
            let known = values.filter { server.profile.columns[$0.key] != nil }
            let response = try await server.update(row, known)
            try server.require(response, 200)
            let changed = try server.row(of: response)
            server.expect(changed.id == row.id, response, "the same id")
            server.expectValues(changed, known, response.request)
        },
        rule(
            "replace.stored",
            .protocol3,
            "The answer is the row as it is stored.",
            in: "datasync-protocol 1.5",
            "Replaces a row and holds the answer against the row read by id."
        ) { server in try await server.expectAnswerToUpdateStored() },
        rule(
            "replace.whole",
            .protocol3,
            "PUT is a full replacement: a member that is left out becomes its default, and keeps nothing.",
            in: "datasync-protocol 1.4, 1.5, 6.3 #21, 7.8",
            for: .column(.boolean),
            "Replaces a row that has true by one without that member."
        ) { server in
            let column = try server.column(.boolean)
            let row = try await server.insert([.boolean: true])
            let body = try server.changed(row, [:]).removing(column)
            let response = try await server.send("PUT", row.id, body)
            try server.require(response, 200)
            let value = response.json?[column] ?? .null
            server.expect(value == .null || value == false, response, "'\(column)' false, null or absent")
            let again = try await server.read(row.id)?[column] ?? .null
            server.expect(
                again == .null || again == false,
                response,
                "'\(column)' false, null or absent when read again"
            )
        },
        rule(
            "replace.left-out",
            .protocol3,
            "PUT is a full replacement: a member that is left out becomes its default, and keeps nothing.",
            in: "datasync-protocol 1.4, 1.5, 7.8; datasync-genuine I 1.4, II 3",
            "Replaces a row that has a text, a number and an instant by one without each of those members."
        ) { server in
            for kind in [ColumnKind.text, .number, .date] {
                guard let column = server.profile.columns[kind] else { continue }
                let row = try await server.insert([kind: server.usual(kind)])
                let body = try server.changed(row, [:]).removing(column)
                let response = try await server.send("PUT", row.id, body)
                // A column may be one that every body has to have.
                if response.isRefusal {
                    try await server.expectUnchanged(row, after: response.request)
                    continue
                }
                try server.require(response, 200)
                let old = row[column] ?? .null
                server.expect(
                    response.json?[column] ?? .null != old,
                    response,
                    "'\(column)' null, absent or its default"
                )
                let again = try await server.read(row.id)
                server.expect(
                    again != nil && again?[column] ?? .null != old,
                    response,
                    "'\(column)' null, absent or its default when read again"
                )
            }
        },
        rule(
            "replace.null-clears",
            .protocol3,
            "An explicit null clears a column, or is refused where the column takes none.",
            in: "datasync-protocol 1.4, 1.5; datasync-genuine I 1.4",
            "Replaces a row that has a text, a number and an instant by one with null in each of those members."
        ) { server in
            for kind in [ColumnKind.text, .number, .date] {
                guard let column = server.profile.columns[kind] else { continue }
                let row = try await server.insert([kind: server.usual(kind)])
                let response = try await server.update(row, [kind: .null])
                if response.isRefusal {
                    try await server.expectUnchanged(row, after: response.request)
                    continue
                }
                try server.require(response, 200)
                server.expect(response.json?[column] ?? .null == .null, response, "'\(column)': null")
                let again = try await server.read(row.id)
                server.expect(
                    again != nil && again?[column] ?? .null == .null,
                    response,
                    "'\(column)': null when read again"
                )
            }
        },
        rule(
            "replace.only-one",
            .protocol3,
            "No other row is touched.",
            in: "datasync-protocol 1.5",
            "Replaces one of four rows whose ids begin with each other, and reads the others."
        ) { server in try await server.expectOthersUntouched() },
        rule(
            "replace.version",
            .protocol3,
            "Every write changes the version, and the ETag says the new one.",
            in: "datasync-protocol 1.3, 6.3 #16",
            "Replaces a row three times."
        ) { server in try await server.expectNewVersions(writing: ["one", "two", "three"]) },
        rule(
            "replace.updated-at",
            .protocol3,
            "Every write sets updatedAt; it never goes back.",
            in: "datasync-protocol 1.3, 6.3 #16, 7.1",
            "Replaces a row again and again until updatedAt has risen."
        ) { server in try await server.expectStampRises { try await server.update($0) } },
        rule(
            "replace.same-content",
            .protocol3,
            "A write that changes nothing is a write: the version changes.",
            in: "datasync-protocol 1.3",
            for: .nobody,
            "Replaces a row by itself."
        ) { server in
            let row = try await server.insert()
            let response = try await server.update(row, [:])
            try server.require(response, 200)
            server.expect(try server.row(of: response).version != row.version, response, "another version")
        },
        rule(
            "replace.other-id",
            .protocol3,
            "When the id of the body is not the path's, that is a 400, and nothing is changed.",
            in: "datasync-protocol 1.5, 6.3 #18",
            "Replaces a row by an item with the id of another row."
        ) { server in
            let rows = [try await server.insert(), try await server.insert()]
            let body = try server.changed(rows[1], [.text: "wrong"])
            let response = try await server.send("PUT", rows[0].id, body)
            server.expect(response, 400)
            for row in rows { try await server.expectUnchanged(row, after: response.request) }
        },
        rule(
            "replace.no-id",
            .protocol3,
            "A body without an id is not the path's row: 400.",
            in: "datasync-protocol 1.5",
            "Replaces a row by an item without an id."
        ) { server in
            let row = try await server.insert()
            let response = try await server.send(
                "PUT",
                row.id,
                try server.changed(row, [.text: "wrong"]).removing("id")
            )
            server.expect(response, 400)
            try await server.expectUnchanged(row, after: response.request)
        },
        rule(
            "replace.unknown",
            .protocol3,
            "Replacing a row that is not there is a 404, and makes none.",
            in: "datasync-protocol 1.5, 6.3 #18",
            "Replaces a row with an id that was never used."
        ) { server in
            let id = server.newID()
            let response = try await server.send("PUT", id, server.item(id))
            server.expect(response, 404)
            try await server.expectAbsent(id, after: response.request)
        },
        rule(
            "replace.tombstone",
            .protocol3,
            "Replacing a deleted row without __includedeleted=true is a 410, also under the version it had before, and it stays"
                + " deleted and as it was.",
            in: "datasync-protocol 1.5, 6.3 #19; datasync-genuine II 3",
            for: .softDelete,
            "Deletes a row, replaces it without If-Match and under the version of before, and asks for it in a list before and"
                + " after."
        ) { server in
            let row = try await server.insert()
            let tombstone = try await server.tombstone(of: row)
            for headers in [[:], ["If-Match": row.tag]] as [[String: String?]] {
                let response = try await server.update(row, headers: headers)
                server.expect(response, 410)
                server.expect(try await server.send("GET", row.id), 410, after: response.request)
                try await server.expectTombstoneUnchanged(tombstone, after: response.request)
            }
        },
        rule(
            "replace.client-stamps",
            .protocol3,
            "updatedAt and version in the body are overwritten, and the version is not looked at.",
            in: "datasync-protocol 1.3, 1.5, 7.5",
            "Replaces a row by one with a stale version and an old updatedAt, without If-Match, and reads it."
        ) { server in
            let row = try await server.insert()
            let sent: [String: JSON] = ["updatedAt": "2001-02-03T04:05:06.789Z", "version": "dGVzdA=="]
            let response = try await server.send("PUT", row.id, try server.changed(row, [.text: "new"]).setting(sent))
            try server.require(response, 200)
            for (name, value) in sent {
                server.expect(response.json?[name] != value, response, "a '\(name)' of the server's own")
            }
            try await server.expectUnchanged(server.stored(response), after: response.request)
        },
        rule(
            "replace.marks-deleted",
            .protocol3,
            "PUT with deleted:true in the body deletes the row softly.",
            in: "datasync-protocol 1.1, 1.5",
            for: .softDelete,
            "Replaces a row by itself with deleted:true, and reads it."
        ) { server in
            let row = try await server.insert()
            let response = try await server.send("PUT", row.id, try server.changed(row, [:]).setting(["deleted": true]))
            try server.require(response, 200)
            server.expect(try await server.send("GET", row.id), 410, after: response.request)
        },
        rule(
            "replace.last-modified",
            .protocol3,
            "The answer has Last-Modified, the second of updatedAt.",
            in: "datasync-protocol 1.2",
            "Replaces a row and holds the header against the member 'updatedAt'."
        ) { server in
            let response = try await server.update(try await server.insert())
            try server.require(response, 200)
            server.expectLastModified(response)
        },
    ]
}

extension ServerTrial {
    /// A value of a column that is nothing's default.
    fileprivate func usual(_ kind: ColumnKind) -> JSON {
        switch kind {
        case .text: "old"
        case .boolean: true
        case .number: 7.0
        case .date: "2021-02-03T03:05:06.000Z"
        }
    }

    /// Updates a row whose id is the beginning of others, and begins with another one; reports others that are changed.
    func expectOthersUntouched() async throws {
        let start = newID()
        var rows: [ServerRow] = []
        for end in ["", "-1", "-11", "-111"] {
            note(start + end)
            rows.append(try await insert(id: start + end))
        }
        let response = try await update(rows[1])
        try require(response, 200)
        for row in [rows[0], rows[2], rows[3]] { try await expectUnchanged(row, after: response.request) }
    }

    /// Reports when a write leaves a row the version it had before, or answers with another ETag than its version's.
    func expectNewVersions(writing texts: [String]) async throws {
        var row = try await insert()
        var versions: Set = [row.version]
        for text in texts {
            let response = try await update(row, [.text: .string(text)])
            try require(response, 200)
            row = try self.row(of: response)
            expect(versions.insert(row.version).inserted, response, "a version that the row never had")
            expect(response["ETag"] == row.tag, response, "the ETag \(row.tag)")
        }
    }

    /// Reports when writing a row again and again never moves `updatedAt` on, or moves it back.
    ///
    /// Several writes, because two may fall into one millisecond.
    func expectStampRises(_ write: @Sendable (ServerRow) async throws -> ServerResponse) async throws {
        let first = try await insert()
        var row = first
        var count = 0
        for attempt in StampAttempts(40) {
            count = attempt
            let response = try await write(row)
            try require(response, 200, 201)
            row = try self.row(of: response)
            if row.updatedAt != first.updatedAt { break }
        }
        trial.expect(
            row.stamp > first.stamp,
            "\(count) writes of a row whose updatedAt is \(first.updatedAt)",
            expected: "a later updatedAt",
            got: row.updatedAt
        )
    }
}
