internal import ConformanceRunner

extension ServerRules {
    static let reading: [Entry] = [
        rule(
            "read.by-id",
            .both,
            "A row is read by its id: 200 and the whole row.",
            in: "datasync-protocol 1.5, 6.2 #10",
            "Creates two rows and reads each."
        ) { server in
            for text in ["first", "second"] {
                let row = try await server.insert([.text: .string(text)])
                let response = try await server.send("GET", row.id)
                try server.require(response, 200)
                server.expect(response.json == row.json, response, "\(row.json)")
            }
        },
        rule(
            "read.unknown",
            .both,
            "An id that no row has is a 404.",
            in: "datasync-protocol 1.5, 6.2 #13; node-server-protocol2, Delete",
            "Reads an id that was never used."
        ) { server in server.expect(try await server.send("GET", server.newID()), 404) },
        rule(
            "read.unknown-table",
            .both,
            "A table that is not there is a 404.",
            in: "node-server-protocol2, Versions and headers",
            "Reads a row of a table with a random name."
        ) { server in
            let name = "Conform\(UInt32.random(in: 100_000_000 ... .max))"
            server.expect(
                try await server.send(ServerRequest(method: "GET"), path: server.client.path(ofTable: name)),
                404
            )
        },
        rule(
            "read.etag",
            .both,
            "The ETag of a row is its version in double quotes, and no weak one.",
            in: "datasync-protocol 1.2, 1.3; node-server-protocol2, Version and ETag",
            "Reads a row and holds the header against the member 'version'."
        ) { server in
            let row = try await server.insert()
            let response = try await server.send("GET", row.id)
            try server.require(response, 200)
            server.expect(response["ETag"] == row.tag, response, "the ETag \(row.tag)")
        },
        rule(
            "read.version-form",
            .both,
            "A version is standard base64 with padding.",
            in: "datasync-protocol 1.3; node-server-protocol2, Version and ETag",
            for: .nobody,
            "Creates a row and looks at its version."
        ) { server in
            let row = try await server.insert()
            let body = row.version.drop { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "/") }
            let isRight = row.version.count % 4 == 0 && body.count <= 2 && body.allSatisfy { $0 == "=" }
            server.trial.expect(isRight, "POST \(server.client.table)", expected: "base64", got: row.version)
        },
        rule(
            "read.last-modified",
            .protocol3,
            "Last-Modified is updatedAt in whole seconds, the fraction cut.",
            in: "datasync-protocol 1.2, 6.2 #10",
            "Reads a row and holds the header against the member 'updatedAt'."
        ) { server in
            let row = try await server.insert()
            let response = try await server.send("GET", row.id)
            try server.require(response, 200)
            server.expectLastModified(response)
        },
        rule(
            "read.if-none-match",
            .protocol3,
            "If-None-Match with the current version is a 304 without a body.",
            in: "datasync-protocol 1.2, 1.6, 6.2 #11",
            "Reads a row with its own version, with a list that has it, and with *."
        ) { server in
            let row = try await server.insert()
            for value in [row.tag, "\"dGVzdA==\", \(row.tag)", "*"] {
                let response = try await server.send("GET", row.id, headers: ["If-None-Match": value])
                server.expect(response, 304)
                server.expect(response.body.isEmpty, response, "no body")
            }
        },
        rule(
            "read.if-none-match-other",
            .protocol3,
            "If-None-Match with another version is a 200 with the row.",
            in: "datasync-protocol 1.6, 6.2 #11",
            "Reads a row with a version that it had before, and with its own as a weak one."
        ) { server in
            let row = try await server.insert()
            let changed = try server.row(of: try await server.update(row))
            for value in [row.tag, "W/\(changed.tag)"] {
                let response = try await server.send("GET", row.id, headers: ["If-None-Match": value])
                server.expect(response, 200)
                server.expect(response.json == changed.json, response, "\(changed.json)")
            }
        },
        rule(
            "read.if-none-match-ignored",
            .protocol2,
            "If-None-Match is ignored: always 200 with the row.",
            in: "node-server-protocol2, Version and ETag",
            for: .nobody,
            "Reads a row with its own version."
        ) { server in
            let row = try await server.insert()
            server.expect(try await server.send("GET", row.id, headers: ["If-None-Match": row.tag]), 200)
        },
        rule(
            "read.if-match",
            .protocol3,
            "If-Match with the current version is a 200.",
            in: "datasync-protocol 6.2 #11",
            "Reads a row with its own version, and with *."
        ) { server in
            let row = try await server.insert()
            for value in [row.tag, "*"] {
                server.expect(try await server.send("GET", row.id, headers: ["If-Match": value]), 200)
            }
        },
        rule(
            "read.if-match-other",
            .protocol3,
            "If-Match with another version is a 412 with the row.",
            in: "datasync-protocol 1.6, 6.2 #11",
            "Reads a row with a version that it never had."
        ) { server in
            let row = try await server.insert()
            let response = try await server.send("GET", row.id, headers: ["If-Match": "\"dGVzdA==\""])
            server.expect(response, 412)
            server.expectRow(response, row)
        },
        rule(
            "read.tombstone",
            .both,
            "A deleted row is not there by id: 410 from Datasync servers, 404 or 410 in protocol 2.",
            in: "datasync-protocol 1.5, 6.2 #14; node-server-protocol2, Delete",
            for: .softDelete,
            "Deletes a row and reads it."
        ) { server in
            let row = try await server.insert()
            try await server.delete(row)
            let response = try await server.send("GET", row.id)
            if server.speaks == .datasync { server.expect(response, 410) } else { server.expect(response, 404, 410) }
        },
        rule(
            "read.tombstone-included",
            .protocol3,
            "With __includedeleted=true a deleted row is a 200 with the row as lists show it, deleted:true, and its ETag.",
            in: "datasync-protocol 1.10, 6.2 #14; datasync-genuine II 4",
            for: .softDelete,
            "Deletes a row, reads it with the parameter, and holds the answer against the row in a list."
        ) { server in
            let row = try await server.insert([.text: "deleted and read"])
            let tombstone = try await server.tombstone(of: row)
            let response = try await server.send("GET", row.id, query: [server.speaks.includeDeleted])
            try server.require(response, 200)
            server.expect(response.json?["deleted"] == true, response, "'deleted': true")
            server.expectRow(response, tombstone)
        },
        rule(
            "read.tombstone-parameter",
            .protocol3,
            "The parameter's name counts in any case, and its value must be 'true' in any case.",
            in: "datasync-protocol 1.10",
            for: .softDelete,
            "Deletes a row and reads it with the parameter in several spellings, and with other values."
        ) { server in
            let row = try await server.insert()
            try await server.delete(row)
            for option in [("__includeDeleted", "true"), ("__INCLUDEDELETED", "True"), ("__includedeleted", "TRUE")] {
                server.expect(try await server.send("GET", row.id, query: [option]), 200)
            }
            for value in ["false", "0", "1", ""] {
                server.expect(try await server.send("GET", row.id, query: [("__includedeleted", value)]), 410)
            }
        },
        rule(
            "read.live-with-parameter",
            .both,
            "A row that is not deleted is read with and without the parameter for deleted ones.",
            in: "datasync-protocol 1.10",
            "Reads a row with the parameter."
        ) { server in
            let row = try await server.insert()
            let response = try await server.send("GET", row.id, query: [server.speaks.includeDeleted])
            server.expect(response.json == row.json, response, "\(row.json)")
        },
        rule(
            "read.id-case",
            .both,
            "Ids are compared as they are written.",
            in: "datasync-protocol 1.3",
            for: .nobody,
            "Reads a row by its id in upper case."
        ) { server in
            let row = try await server.insert(id: server.newID("-abc"))
            server.expect(try await server.send("GET", row.id.uppercased()), 404)
        },
        rule(
            "read.trailing-slash",
            .both,
            "The table's path may end with a slash.",
            in: "datasync-protocol 1.1; node-server-protocol2, Versions and headers",
            "Asks for a page, and creates a row, at the table's path with a slash."
        ) { server in
            server.expect(
                try await server.send(ServerRequest(method: "GET", suffix: "/", query: [("$top", "1")])),
                200
            )
            let body = try server.item(server.newID()).bytes
            server.expect(try await server.send(ServerRequest(method: "POST", suffix: "/", body: body)), 201)
        },
    ]
}
