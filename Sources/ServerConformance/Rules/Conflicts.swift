internal import ConformanceRunner

extension ServerRules {
    static let conflicts: [Entry] = [
        rule(
            "conflict.existing-id",
            .both,
            "Creating a row whose id exists is a 409.",
            in: "datasync-protocol 1.5, 6.1 #3; node-server-protocol2, Insert",
            "Creates two rows with one id."
        ) { server in
            let row = try await server.insert()
            server.expect(try await server.send("POST", nil, server.item(row.id, [.text: "another"])), 409)
        },
        rule(
            "conflict.keeps-row",
            .both,
            "The stored row stays as it was.",
            in: "datasync-protocol 6.1 #3",
            "Creates a second row with an id that exists, and reads the first."
        ) { server in
            let row = try await server.insert()
            let response = try await server.send("POST", nil, server.item(row.id, [.text: "another"]))
            try await server.expectUnchanged(row, after: response.request)
        },
        rule(
            "conflict.server-row",
            .protocol3,
            "The body of the 409 is the stored row, and the ETag its version.",
            in: "datasync-protocol 1.5, 6.1 #3",
            "Creates a second row with an id that exists, and holds the answer against the first."
        ) { server in
            let row = try await server.insert()
            let response = try await server.send("POST", nil, server.item(row.id, [.text: "another"]))
            try server.require(response, 409)
            server.expectRow(response, row)
        },
        rule(
            "conflict.own-item",
            .protocol2,
            "The body of the 409 is the request's own item (Node), or the server's row (.NET).",
            in: "node-server-protocol2, Insert; datasync-protocol 2.1",
            for: .nobody,
            "Creates a second row with an id that exists, and looks for the second item in the answer."
        ) { server in
            let row = try await server.insert()
            let item = server.item(row.id, [.text: "another"])
            let response = try await server.send("POST", nil, item)
            try server.require(response, 409)
            server.expect(response.json == item, response, "\(item)")
        },
        rule(
            "conflict.tombstone",
            .both,
            "The id of a deleted row is taken: creating it again is a 409, and the row stays deleted and as it was.",
            in: "datasync-protocol 1.5, 6.1 #4; node-server-protocol2, Insert",
            for: .softDelete,
            "Deletes a row, creates one with its id, and asks for the deleted one in a list before and after."
        ) { server in
            let row = try await server.insert()
            let tombstone = try await server.tombstone(of: row)
            let response = try await server.send("POST", nil, server.item(row.id, [.text: "another"]))
            server.expect(response, 409)
            let listed = try await server.listed(row.id, includingDeleted: false)
            server.expect(listed == nil, response, "the row, still deleted")
            try await server.expectTombstoneUnchanged(tombstone, after: response.request)
        },
        rule(
            "conflict.tombstone-body",
            .protocol3,
            "When the stored row is a tombstone, the body of the 409 is that one, with deleted:true, and the ETag its version.",
            in: "datasync-protocol 1.5, 6.1 #4",
            for: .softDelete,
            "Deletes a row, creates one with its id, and holds the answer against the deleted row in a list."
        ) { server in
            let row = try await server.insert([.text: "the stored one"])
            let tombstone = try await server.tombstone(of: row)
            let response = try await server.send("POST", nil, server.item(row.id, [.text: "another"]))
            try server.require(response, 409)
            server.expect(response.json?["deleted"] == true, response, "the stored row, with 'deleted': true")
            server.expectRow(response, tombstone)
        },
    ]
}

extension ServerTrial {
    /// Reports when an answer does not hold a row, and its version as a strong ETag.
    func expectRow(_ response: ServerResponse, _ row: ServerRow, after steps: String = "") {
        expect(response.json == row.json, response, "the stored row \(row.json)", after: steps)
        expect(response["ETag"] == row.tag, response, "the ETag \(row.tag)", after: steps)
    }
}
