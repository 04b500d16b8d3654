internal import ConformanceRunner

extension ServerRules {
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
            let tombstone = try await server.tombstone(of: row)
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
            if let listed { try await server.expectTombstoneUnchanged(listed, after: stale.request) }
        },
        rule(
            "undelete.post",
            .protocol2,
            "POST to the row's path brings a deleted row back: 201, deleted:false.",
            in: "datasync-protocol 2.1; node-server-protocol2, Delete",
            for: .softDelete,
            "Updates a row and deletes it, brings it back and reads it."
        ) { server in
            let row = try await server.insert([.text: "before"])
            try server.require(try await server.update(row, [.text: "back"]), 200)
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
            "A row that was brought back is in lists again, as its answer has shown it.",
            in: "datasync-protocol 6.3 #19",
            for: .softDelete,
            "Deletes a row, brings it back, and asks for it in a list without deleted rows."
        ) { server in
            let row = try await server.insert([.text: "listed again"])
            try await server.delete(row)
            let response = try await server.restore(row)
            try server.require(response, 200, 201)
            let restored = try await server.stored(response)
            let listed = try await server.listed(row.id, includingDeleted: false)
            server.trial.expect(
                listed == restored,
                "\(response.request); list",
                expected: "the row as it was answered: \(restored.json)",
                got: listed.map { "\($0.json)" } ?? "no row"
            )
        },
        rule(
            "undelete.if-match",
            .both,
            "If-Match holds for bringing back as well: a stale version is a 412 with the deleted row, which stays as it was.",
            in: "datasync-protocol 1.5, 1.6; datasync-genuine II 4; node-server-protocol2, Delete",
            for: .softDelete,
            "Deletes a row and brings it back with the version it had before, then with its own. In protocol 2 the 412 need not"
                + " have the row."
        ) { server in
            let row = try await server.insert([.text: "still deleted"])
            let tombstone = try await server.tombstone(of: row)
            let stale = try await server.restore(row, headers: ["If-Match": row.tag])
            server.expect(stale, 412)
            if server.speaks == .datasync || stale.json?["id"] != nil { server.expectRow(stale, tombstone) }
            server.expect(try await server.send("GET", row.id), 404, 410, after: stale.request)
            try await server.expectTombstoneUnchanged(tombstone, after: stale.request)
            server.expect(try await server.restore(row, headers: ["If-Match": tombstone.tag]), 200, 201)
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
    /// Deletes a row; returns it as lists show it then, and ends the rule when they do not.
    func tombstone(of row: ServerRow) async throws -> ServerRow {
        try await delete(row)
        if let tombstone = try await listed(row.id) { return tombstone }
        trial.report("DELETE \(client.table)/\(row.id); list", expected: "the deleted row", got: "no row")
        throw Stopped()
    }

    /// Reports when lists show a deleted row otherwise than before.
    func expectTombstoneUnchanged(_ tombstone: ServerRow, after steps: String) async throws {
        let now = try await listed(tombstone.id)
        trial.expect(
            now == tombstone,
            "\(steps); list with deleted rows",
            expected: "the deleted row as it was: \(tombstone.json)",
            got: now.map { "\($0.json)" } ?? "no row"
        )
    }

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
