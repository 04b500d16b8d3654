internal import ConformanceRunner

extension ServerRules {
    static let deletion: [Entry] = [
        rule(
            "delete.answer",
            .both,
            "Deleting answers 204 without a body (Datasync), or 200 with the row or 204 (protocol 2).",
            in: "datasync-protocol 1.5, 2.1, 6.4 #22; node-server-protocol2, Delete",
            "Deletes a row."
        ) { server in
            let response = try await server.send("DELETE", try await server.insert().id)
            if server.speaks == .datasync {
                server.expect(response, 204)
                server.expect(response.body.isEmpty, response, "no body")
            } else {
                server.expect(response, 200, 204)
            }
        },
        rule(
            "delete.no-etag",
            .protocol3,
            "A 204 has no ETag.",
            in: "datasync-protocol 1.2",
            for: .nobody,
            "Deletes a row."
        ) { server in
            let response = try await server.send("DELETE", try await server.insert().id)
            server.expect(response["ETag"] == nil, response, "no ETag")
        },
        rule(
            "delete.gone",
            .both,
            "A deleted row is not there any more, neither by id nor in lists.",
            in: "datasync-protocol 6.4 #22",
            "Deletes one of two rows, reads it by id and asks for both in a list."
        ) { server in
            let rows = [try await server.insert(), try await server.insert()]
            try await server.delete(rows[0])
            server.expect(try await server.send("GET", rows[0].id), 404, 410)
            let page = try await server.list([("$filter", server.among(rows))])
            server.expect(page.ids == [rows[1].id], page.response, "the row \(rows[1].id) alone")
        },
        rule(
            "delete.only-one",
            .both,
            "No other row is touched.",
            in: "datasync-protocol 1.5",
            "Deletes one of three rows whose ids differ in the last sign, and reads the others."
        ) { server in
            let start = server.newID()
            var rows: [ServerRow] = []
            for end in ["-1", "-2", "-3"] {
                server.note(start + end)
                rows.append(try await server.insert(id: start + end))
            }
            try await server.delete(rows[1])
            for row in [rows[0], rows[2]] { try await server.expectUnchanged(row, after: "DELETE of another row") }
        },
        rule(
            "delete.unknown",
            .both,
            "Deleting a row that is not there is a 404.",
            in: "datasync-protocol 1.5, 6.4 #24; node-server-protocol2, Delete",
            "Deletes an id that was never used, in Datasync also with an If-Match, as clients send it."
        ) { server in
            for headers in server.speaks.deletionHeaders {
                server.expect(try await server.send("DELETE", server.newID(), headers: headers), 404)
            }
        },
        rule(
            "delete.again",
            .both,
            "Deleting a row a second time is a 410 (Datasync); in protocol 2 a 409, 410 or 412.",
            in: "datasync-protocol 1.5, 6.4 #26; node-server-protocol2, Delete",
            for: .softDelete,
            "Deletes a row twice, in Datasync also with the parameter for deleted rows, and with an If-Match, as clients send it.",
            otherwise: (
                "Deleting a row a second time is a 404.",
                { server in
                    let row = try await server.insert()
                    try await server.delete(row)
                    server.expect(try await server.send("DELETE", row.id), 404)
                }
            )
        ) { server in
            let row = try await server.insert()
            try await server.delete(row)
            for headers in server.speaks.deletionHeaders {
                let isPlain = headers.isEmpty && server.speaks == .datasync
                for query in isPlain ? [[], [server.speaks.includeDeleted]] : [[]] {
                    let response = try await server.send("DELETE", row.id, query: query, headers: headers)
                    if server.speaks == .datasync {
                        server.expect(response, 410)
                    } else {
                        server.expect(response, 409, 410, 412)
                    }
                }
            }
        },
        rule(
            "delete.keeps-row",
            .both,
            "The row remains with deleted:true and its values.",
            in: "datasync-protocol 1.5, 6.4 #25; node-server-protocol2, Delete",
            for: .softDelete,
            "Deletes a row and asks for it in a list with the parameter for deleted rows.",
            otherwise: (
                "A deleted row is gone, with the parameter for deleted rows too.",
                { server in
                    let row = try await server.insert()
                    try await server.delete(row)
                    let listed = try await server.listed(row.id)
                    server.trial.expect(
                        listed == nil,
                        "DELETE; list with deleted rows",
                        expected: "no row",
                        got: "the row"
                    )
                }
            )
        ) { server in
            let row = try await server.insert([.text: "kept", .boolean: true, .number: 7.0])
            try await server.delete(row)
            let listed = try await server.listed(row.id)
            server.trial.expect(
                listed?.isDeleted == true,
                "DELETE; list",
                expected: "'deleted': true",
                got: "\(brief(listed as Any))"
            )
            server.expectValues(listed, [.text: "kept", .boolean: true, .number: 7.0], "DELETE; list")
        },
        rule(
            "delete.new-version",
            .both,
            "A deletion moves version and updatedAt on: pulls find it.",
            in: "datasync-protocol 1.5, 6.4 #25, 7.7; node-server-protocol2, Delete",
            for: .softDelete,
            "Makes and deletes rows until one has another updatedAt than before, and holds the versions against each other."
        ) { server in
            var last = (before: "", after: "")
            var count = 0
            for attempt in StampAttempts(20) {
                count = attempt
                let row = try await server.insert()
                try await server.delete(row)
                guard let listed = try await server.listed(row.id) else { continue }
                server.trial.expect(
                    listed.version != row.version,
                    "DELETE \(server.client.table)/\(row.id); list",
                    expected: "another version than \(row.version)",
                    got: listed.version
                )
                last = (row.updatedAt, listed.updatedAt)
                if last.after > last.before || listed.version == row.version { break }
            }
            server.trial.expect(
                last.after > last.before,
                "DELETE of \(count) rows; list",
                expected: "an updatedAt later than \(last.before)",
                got: last.after
            )
        },
        rule(
            "delete.row-in-answer",
            .protocol2,
            "A 200 has the row with deleted:true, a raised version, and its ETag.",
            in: "node-server-protocol2, Delete",
            for: .softDelete,
            "Deletes a row and looks at the answer."
        ) { server in
            let row = try await server.insert()
            let response = try await server.send("DELETE", row.id)
            guard response.status != 204 else { throw Unsupported("this server answers 204, without a body") }
            try server.require(response, 200)
            let deleted = try server.row(of: response)
            server.expect(deleted.isDeleted, response, "'deleted': true")
            server.expect(deleted.version != row.version, response, "another version than \(row.version)")
            server.expect(response["ETag"] == deleted.tag, response, "the ETag \(deleted.tag)")
        },
    ]

    static let restoring: [Entry] = [
        rule(
            "undelete.put",
            .protocol3,
            "PUT with __includedeleted=true and deleted false or absent brings a deleted row back: 200, deleted:false.",
            in: "datasync-protocol 1.5, 6.3 #19",
            for: .softDelete,
            "Deletes two rows and brings one back with deleted:false and one without that member."
        ) { server in
            for sent in [["deleted": false], [:]] as [[String: JSON]] {
                let row = try await server.insert()
                try await server.delete(row)
                let body = try server.changed(row, [:]).setting(sent)
                let response = try await server.send("PUT", row.id, query: [server.speaks.includeDeleted], body)
                try server.require(response, 200)
                server.expect(response.json?["deleted"] == false, response, "'deleted': false")
                server.expect(try await server.send("GET", row.id), 200, after: response.request)
            }
        },
        rule(
            "undelete.content",
            .protocol3,
            "The PUT that brings a row back replaces it like any other.",
            in: "datasync-protocol 1.5; datasync-genuine II 4",
            for: .softDelete,
            "Deletes a row and brings it back with other values, and without its truth value."
        ) { server in
            let row = try await server.insert([.text: "old", .number: 1.0, .boolean: true])
            try await server.delete(row)
            let values: [ColumnKind: JSON] = [.text: "new", .number: 2.0]
            let known = values.filter { server.profile.columns[$0.key] != nil }
            var body = try server.changed(row, known).setting(["deleted": false])
            let left = server.profile.columns[.boolean]
            if let left { body = body.removing(left) }
            let response = try await server.send("PUT", row.id, query: [server.speaks.includeDeleted], body)
            try server.require(response, 200)
            for (steps, row) in [
                (response.request, try server.row(of: response)),
                (response.request + "; GET", try await server.read(row.id)),
            ] {
                server.expectValues(row, known, steps)
                guard let left, row?[left] == true else { continue }
                server.report(response, expected: "'\(left)' false, null or absent, also when read again")
            }
        },
        rule(
            "undelete.stays-deleted",
            .protocol3,
            "PUT with __includedeleted=true and deleted:true writes a deleted row, which stays deleted under another version.",
            in: "datasync-protocol 1.1, 1.5; datasync-genuine II 4",
            for: .softDelete,
            "Deletes a row, replaces it under its version with deleted:true and other values, asks for it in a list, and brings"
                + " it back under the version of before."
        ) { server in
            let row = try await server.insert([.text: "old", .number: 1.0])
            try await server.delete(row)
            guard let tombstone = try await server.listed(row.id) else {
                return server.trial.report("DELETE; list", expected: "the deleted row", got: "no row")
            }
            let values: [ColumnKind: JSON] = [.text: "new", .number: 2.0]
            let known = values.filter { server.profile.columns[$0.key] != nil }
            let body = try server.changed(row, known).setting(["deleted": true])
            let (query, headers) = ([server.speaks.includeDeleted], ["If-Match": tombstone.tag])
            let response = try await server.send("PUT", row.id, query: query, headers: headers, body)
            try server.require(response, 200)
            let written = try server.row(of: response)
            server.expect(written.isDeleted, response, "'deleted': true")
            server.expect(
                ![row.version, tombstone.version].contains(written.version),
                response,
                "a version that the row never had"
            )
            server.expectValues(written, known, response.request)
            server.expect(try await server.send("GET", row.id), 410, after: response.request)
            let listed = try await server.listed(row.id)
            server.expect(listed?.version == written.version, response, "the version in a list as well")
            server.expectValues(listed, known, response.request + "; list")
            let stale = try await server.restore(row, headers: headers)
            server.expect(stale, 412, after: response.request)
            server.expect(try await server.send("GET", row.id), 410, after: stale.request)
        },
        rule(
            "undelete.post",
            .protocol2,
            "POST to the row's path brings a deleted row back: 201, deleted:false.",
            in: "datasync-protocol 2.1; node-server-protocol2, Delete",
            for: .softDelete,
            "Deletes a row, brings it back and reads it."
        ) { server in
            let row = try await server.insert([.text: "back"])
            try await server.delete(row)
            let response = try await server.send("POST", row.id)
            try server.require(response, 200, 201)
            server.expect(response.json?["deleted"] == false, response, "'deleted': false")
            server.expectValues(try await server.read(row.id), [.text: "back"], response.request + "; GET")
        },
        rule(
            "undelete.new-version",
            .both,
            "Bringing a row back moves the version on, and the ETag says the new one.",
            in: "datasync-protocol 1.3; node-server-protocol2, Delete",
            for: .softDelete,
            "Deletes a row and brings it back."
        ) { server in
            let row = try await server.insert()
            try await server.delete(row)
            let deleted = try await server.listed(row.id)
            let response = try await server.restore(row)
            try server.require(response, 200, 201)
            let restored = try server.row(of: response)
            server.expect(
                ![row.version, deleted?.version].contains(restored.version),
                response,
                "a version that the row never had"
            )
            server.expect(response["ETag"] == restored.tag, response, "the ETag \(restored.tag)")
        },
        rule(
            "undelete.listed",
            .both,
            "A row that was brought back is in lists again.",
            in: "datasync-protocol 6.3 #19",
            for: .softDelete,
            "Deletes a row, brings it back, and asks for it in a list without deleted rows."
        ) { server in
            let row = try await server.insert()
            try await server.delete(row)
            let response = try await server.restore(row)
            try server.require(response, 200, 201)
            let listed = try await server.listed(row.id, includingDeleted: false)
            server.expect(listed != nil, response, "the row in a list")
        },
        rule(
            "undelete.if-match",
            .both,
            "If-Match holds for bringing back as well: a stale version is a 412, and the row stays deleted.",
            in: "datasync-protocol 1.5, 1.6; node-server-protocol2, Delete",
            for: .softDelete,
            "Deletes a row and brings it back with the version it had before, then with its own."
        ) { server in
            let row = try await server.insert()
            try await server.delete(row)
            let stale = try await server.restore(row, headers: ["If-Match": row.tag])
            server.expect(stale, 412)
            server.expect(try await server.send("GET", row.id), 404, 410, after: stale.request)
            guard let now = try await server.listed(row.id) else { return }
            server.expect(try await server.restore(row, headers: ["If-Match": now.tag]), 200, 201)
        },
        rule(
            "undelete.unknown",
            .both,
            "Bringing back a row that was never there is a 404.",
            in: "datasync-protocol 1.5; node-server-protocol2, Delete",
            "Brings back an id that was never used."
        ) { server in
            let row = ServerRow(json: server.item(server.newID()))
            server.expect(try await server.restore(row), 404)
        },
        rule(
            "undelete.live",
            .protocol2,
            "Bringing back works on a live row as well.",
            in: "node-server-protocol2, Delete",
            for: .nobody,
            "Brings back a row that was not deleted."
        ) { server in server.expect(try await server.restore(try await server.insert()), 200, 201) },
    ]
}

extension ServerTrial {
    /// Brings a deleted row back: as the protocol says, or as the predecessor wants it, whose row stays deleted otherwise.
    func restore(_ row: ServerRow, headers: [String: String?] = [:]) async throws -> ServerResponse {
        let response: ServerResponse
        switch speaks {
        case .datasync:
            let body = try changed(row, [:]).setting(["deleted": false])
            response = try await send("PUT", row.id, query: [speaks.includeDeleted], headers: headers, body)
        case .azureMobileApps: response = try await send("POST", row.id, headers: headers)
        }
        guard [405, 410].contains(response.status) else { return response }
        let merged = try await send("PATCH", row.id, headers: headers, ["deleted": false])
        return merged.status == 405 ? response : merged
    }
}

extension ServerProtocol {
    /// With which headers a deletion is sent: a client gives the version that it has seen, and one that is stale changes nothing where
    /// there is no row. That is said of Datasync alone.
    fileprivate var deletionHeaders: [[String: String?]] {
        self == .datasync ? [[:], ["If-Match": "\"c3RhbGU=\""]] : [[:]]
    }
}
