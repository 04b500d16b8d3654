internal import ConformanceRunner

extension ServerRules {
    static let ids: [Entry] = [
        rule(
            "create.many-ids",
            .both,
            "Ids of every form that clients may use name a row: letters, digits, and . _ - | : after the first sign.",
            in: "datasync-protocol 1.3",
            "Creates rows whose ids have such signs, and reads, changes and deletes them by percent-encoded paths."
        ) { server in
            for end in [".x", "_x", "-X", "|x", ":x"] {
                let row = try await server.insert(id: server.newID(end))
                server.expect(try await server.send("GET", row.id), 200)
                server.expect(try await server.update(row), 200)
                server.expect(try await server.send("DELETE", row.id), 200, 204)
            }
        },
        rule(
            "create.id-case",
            .both,
            "An id keeps its upper and lower case.",
            in: "datasync-protocol 1.3; datasync-genuine II 1; node-server-protocol2, Insert",
            "Creates rows with ids in both, and reads, changes and lists them."
        ) { server in
            for end in ["-ABC", "-aBc"] {
                let id = server.newID(end)
                let row = try await server.insert(id: id)
                let updated = try server.row(of: try await server.update(row))
                let read = try await server.read(id)
                let listed = try await server.list([("$filter", "id eq '\(id)'")])
                server.trial.expect(
                    [row.id, updated.id, read?.id ?? "no row"] + listed.ids,
                    equals: Array(repeating: id, count: 4),
                    "the ids in the answers to a creation, an update, GET of the row, and GET of it in a list"
                )
            }
        },
        rule(
            "create.signs-in-ids",
            .protocol2,
            "Ids may have spaces and most signs.",
            in: "node-server-protocol2, exchanges 40 and 41",
            "Creates rows with such ids, and reads them by percent-encoded paths."
        ) { server in
            for end in [" with space", "&=#", "é"] {
                let row = try await server.insert(id: server.newID(end))
                server.expect(try await server.send("GET", row.id), 200)
            }
        },
        rule(
            "create.id-beyond-ascii",
            .protocol3,
            "An id beyond ASCII names a row, or is refused and stores none; genuine servers answer 500 and store it.",
            in: "datasync-genuine III 9, I 1.1",
            for: .nobody,
            "Creates a row with such an id and reads it."
        ) { server in
            let id = server.newID("-\u{E9}")
            let response = try await server.send("POST", nil, server.item(id))
            let read = try await server.send("GET", id)
            guard !response.isSuccess else {
                server.expect(read, 200, after: response.request)
                return
            }
            server.expect(response.isRefusal, response, "a row or a refusal")
            guard read.status == 200 else { return }
            server.trial.note(
                response.request,
                expected: "a success, or no such row",
                got: "\(response), and the row is stored",
                remark: "a 500 to an insert has an unknown outcome: clients must look before they send it again, and"
                    + " choose ids of ASCII letters, digits and -"
            )
        },
        rule(
            "create.names-in-any-case",
            .protocol3,
            "Names of members count in any case.",
            in: "datasync-genuine III 5, I 1.3",
            for: .column(.text),
            "Creates and replaces a row with the names of its members in upper case."
        ) { server in
            let name = try server.column(.text)
            let id = server.newID()
            let item: JSON = ["ID": .string(id), name.uppercased(): "in capitals"]
            let response = try await server.send("POST", nil, item)
            try server.noteOwnAndRequire(response, id)
            guard response.json?[name.uppercased()] != "in capitals" || name == name.uppercased() else {
                throw Unsupported("this server makes columns as they come, so '\(name.uppercased())' is another one")
            }
            server.expect(response.json?[name] == "in capitals", response, "'\(name)': \"in capitals\"")
            let changed = try await server.send("PUT", id, item.setting([name.uppercased(): "again"]))
            try server.require(changed, 200)
            server.expect(changed.json?[name] == "again", changed, "'\(name)': \"again\"")
        },
    ]
}

extension ServerTrial {
    /// Ends the rule when a row was not created with the id that was sent.
    fileprivate func noteOwnAndRequire(_ response: ServerResponse, _ id: String) throws {
        try require(response, 201)
        guard let made = response.json?["id"]?.string, made != id else { return }
        report(response, expected: "the row with the id '\(id)'")
        // Nobody else has a row with this text.
        if response.json?.object?.values.contains("in capitals") == true { note(made) }
        throw Stopped()
    }
}
