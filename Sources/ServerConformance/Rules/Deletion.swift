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
            "Deleting a row a second time is a 410 (Datasync), in protocol 2 a 409, 410 or 412, and changes nothing.",
            in: "datasync-protocol 1.5, 6.4 #26; node-server-protocol2, Delete",
            for: .softDelete,
            "Deletes a row twice, in Datasync also with the parameter for deleted rows, and with an If-Match, as clients send it;"
                + " asks for the row in a list before and after.",
            otherwise: (
                "Deleting a row a second time is a 404.",
                { server in
                    let row = try await server.insert()
                    try await server.delete(row)
                    server.expect(try await server.send("DELETE", row.id), 404)
                }
            )
        ) { server in
            let row = try await server.insert([.text: "deleted once"])
            let tombstone = try await server.tombstone(of: row)
            for headers in server.speaks.deletionHeaders {
                let isPlain = headers.isEmpty && server.speaks == .datasync
                for query in isPlain ? [[], [server.speaks.includeDeleted]] : [[]] {
                    let response = try await server.send("DELETE", row.id, query: query, headers: headers)
                    if server.speaks == .datasync {
                        server.expect(response, 410)
                    } else {
                        server.expect(response, 409, 410, 412)
                    }
                    try await server.expectTombstoneUnchanged(tombstone, after: response.request)
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
}

extension ServerProtocol {
    /// With which headers a deletion is sent: a client gives the version that it has seen, and one that is stale changes nothing where
    /// there is no row. That is said of Datasync alone.
    fileprivate var deletionHeaders: [[String: String?]] {
        self == .datasync ? [[:], ["If-Match": "\"c3RhbGU=\""]] : [[:]]
    }
}
