internal import ConformanceRunner

extension ServerRules {
    static let merging: [Entry] = [
        rule(
            "patch.merges",
            .protocol2,
            "PATCH sets the columns it names and keeps all others.",
            in: "datasync-protocol 2.1; node-server-protocol2, Update",
            for: .column(.boolean),
            "Sets the text of a row that has a truth value, a number and an instant as well."
        ) { server in
            let others: [ColumnKind: JSON] = [.boolean: true, .number: 7.0, .date: "2021-02-03T04:05:06.789Z"]
            let row = try await server.insert(others.merging([.text: "old"]) { $1 })
            let response = try await server.update(row, [.text: "new"])
            try server.require(response, 200)
            let kept = others.merging([.text: "new"]) { $1 }
            server.expectKept(try server.row(of: response), kept, response.request)
            server.expectKept(try await server.read(row.id), kept, response.request + "; GET")
        },
        rule(
            "patch.null-clears",
            .protocol2,
            "An explicit null clears a column.",
            in: "node-server-protocol2, exchange 70",
            for: .column(.text),
            "Sets a column to null and reads the row."
        ) { server in
            let row = try await server.insert([.text: "old"])
            let response = try await server.update(row, [.text: .null])
            try server.require(response, 200)
            server.expectValues(try server.row(of: response), [.text: .null], response.request)
            server.expectValues(try await server.read(row.id), [.text: .null], response.request + "; GET")
        },
        rule(
            "patch.only-one",
            .protocol2,
            "No other row is touched.",
            in: "node-server-protocol2, Update",
            "Updates one of four rows whose ids begin with each other, and reads the others."
        ) { server in try await server.expectOthersUntouched() },
        rule(
            "patch.whole-row",
            .protocol2,
            "The answer is 200 and the whole row as it is stored.",
            in: "node-server-protocol2, Update",
            "Changes a row and holds the answer against the row read by id."
        ) { server in try await server.expectAnswerToUpdateStored() },
        rule(
            "patch.version",
            .protocol2,
            "Every update raises the version, one that changes nothing too, and the ETag says the new one.",
            in: "node-server-protocol2, Version and ETag, exchanges 70 and 71",
            "Changes a row twice to the same text."
        ) { server in try await server.expectNewVersions(writing: ["one", "one"]) },
        rule(
            "patch.updated-at",
            .protocol2,
            "Every update sets updatedAt; it never goes back.",
            in: "node-server-protocol2, Dates",
            "Changes a row again and again until updatedAt has risen."
        ) { server in try await server.expectStampRises { try await server.update($0) } },
        rule(
            "patch.created-at",
            .protocol2,
            "createdAt stays what it was.",
            in: "node-server-protocol2, Dates",
            "Changes a row until updatedAt has risen, and looks at createdAt."
        ) { server in
            let first = try await server.insert()
            var row = first
            for _ in StampAttempts(40) {
                row = try server.row(of: try await server.update(row))
                if row.updatedAt != first.updatedAt { break }
            }
            server.trial.expect(row["createdAt"] ?? .null, equals: first["createdAt"] ?? .null, "PATCH; 'createdAt'")
        },
        rule(
            "patch.unknown",
            .protocol2,
            "Updating a row that is not there is a 404, with or without If-Match, and makes none.",
            in: "node-server-protocol2, Update",
            "Updates an id that was never used."
        ) { server in
            let column = try server.column(.text)
            for headers in [[:], ["If-Match": "\"MQ==\""]] as [[String: String?]] {
                let id = server.newID()
                let response = try await server.send("PATCH", id, headers: headers, [column: "x"])
                server.expect(response, 404)
                try await server.expectAbsent(id, after: response.request)
            }
        },
        rule(
            "patch.other-id",
            .protocol2,
            "When the id of the body is not the path's, that is a 400, and nothing is changed.",
            in: "node-server-protocol2, Update",
            "Updates a row with an item that has the id of another row."
        ) { server in
            let rows = [try await server.insert(), try await server.insert()]
            let body = try server.changed(rows[0], [.text: "wrong"]).setting(["id": .string(rows[1].id)])
            let response = try await server.send("PATCH", rows[0].id, body)
            server.expect(response, 400)
            for row in rows { try await server.expectUnchanged(row, after: response.request) }
        },
        rule(
            "patch.same-id",
            .protocol2,
            "The id may be in the body too.",
            in: "node-server-protocol2, exchange 63",
            "Updates a row with an item that has its id."
        ) { server in
            let row = try await server.insert()
            let body = try server.changed(row, [.text: "new"]).setting(["id": .string(row.id)])
            server.expect(try await server.send("PATCH", row.id, body), 200)
        },
        rule(
            "patch.reserved",
            .protocol2,
            "createdAt, updatedAt and deleted are reserved: a body that has one is a 400, and nothing is changed.",
            in: "node-server-protocol2, Insert, Update",
            "Updates a row with one of the members each."
        ) { server in
            let row = try await server.insert()
            let stamp: JSON = "2001-02-03T04:05:06.789Z"
            let members: [(String, JSON)] = [("createdAt", stamp), ("updatedAt", stamp), ("deleted", false)]
            for (name, value) in members {
                let body = try server.changed(row, [.text: "wrong"]).setting([name: value])
                let response = try await server.send("PATCH", row.id, body)
                server.expect(response, 400)
                try await server.expectUnchanged(row, after: response.request)
            }
        },
        rule(
            "patch.body-version",
            .protocol2,
            "Without If-Match, a stale version in the body is refused with 409, and nothing is changed.",
            in: "node-server-protocol2, Update; datasync-protocol 2.1",
            "Updates a row with a stale version in the body."
        ) { server in
            let row = try await server.insert()
            let body = try server.changed(row, [.text: "wrong"]).setting(["version": "dGVzdA=="])
            let response = try await server.send("PATCH", row.id, body)
            server.expect(response, 409, 412)
            server.expectRow(response, row)
            try await server.expectUnchanged(row, after: response.request)
        },
        rule(
            "patch.body-version-current",
            .protocol2,
            "The current version in the body lets the update through.",
            in: "node-server-protocol2, exchange 61",
            "Updates a row with its version in the body."
        ) { server in
            let row = try await server.insert()
            let body = try server.changed(row, [.text: "new"]).setting(["version": .string(row.version)])
            server.expect(try await server.send("PATCH", row.id, body), 200)
        },
        rule(
            "patch.header-counts",
            .protocol2,
            "With If-Match and a version in the body, the header counts.",
            in: "node-server-protocol2, Update, exchanges 57 to 60",
            "Updates a row with the right header and a stale body, and the other way round."
        ) { server in
            let row = try await server.insert()
            let stale = try server.changed(row, [.text: "one"]).setting(["version": "dGVzdA=="])
            let first = try await server.send("PATCH", row.id, headers: ["If-Match": row.tag], stale)
            try server.require(first, 200)
            let now = try server.row(of: first)
            let right = try server.changed(now, [.text: "two"]).setting(["version": .string(now.version)])
            let second = try await server.send("PATCH", row.id, headers: ["If-Match": row.tag], right)
            server.expect(second, 412)
            try await server.expectUnchanged(now, after: second.request)
        },
        rule(
            "patch.tombstone",
            .protocol2,
            "A deleted row stays deleted when it is updated; under the version it had before, the update is refused and changes"
                + " nothing.",
            in: "node-server-protocol2, Update; datasync-protocol 2.1; ama-genuine 1.1",
            for: .softDelete,
            "Deletes a row, updates it under the version of before and then without one, and asks for it in lists."
        ) { server in
            let row = try await server.insert()
            let tombstone = try await server.tombstone(of: row)
            let stale = try await server.update(row, headers: ["If-Match": row.tag])
            server.expect(stale, 404, 409, 410, 412)
            try await server.expectTombstoneUnchanged(tombstone, after: stale.request)
            let response = try await server.update(row)
            server.expect(response, 200, 404, 409, 410, 412)
            let listed = try await server.listed(row.id, includingDeleted: false)
            server.expect(listed == nil, response, "the row, still deleted")
        },
        rule(
            "patch.no-columns",
            .protocol2,
            "A body with no column to set is a 4xx; the Node server says 500.",
            in: "node-server-protocol2, exchanges 67 to 69",
            for: .nobody,
            "Updates a row with an empty object."
        ) { server in
            let row = try await server.insert()
            let response = try await server.send("PATCH", row.id, [:])
            server.expect((200...499).contains(response.status), response, "no 5xx")
        },
        rule(
            "patch.collection",
            .protocol2,
            "PATCH without an id in the path takes the body's.",
            in: "datasync-protocol 2.1; node-server-protocol2, exchange 79",
            for: .nobody,
            "Updates a row at the table's own path."
        ) { server in
            let row = try await server.insert()
            let body = try server.changed(row, [.text: "new"]).setting(["id": .string(row.id)])
            server.expect(try await server.send("PATCH", nil, body), 200)
        },
    ]
}
