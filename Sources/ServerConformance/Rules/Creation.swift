internal import ConformanceRunner

extension ServerRules {
    static let creation: [Entry] = [
        rule(
            "create.with-id",
            .both,
            "A row that is created with an id has it, and the answer is 201.",
            in: "datasync-protocol 1.5, 6.1",
            "Creates a row with an id and reads it by that id."
        ) { server in
            let id = server.newID()
            let response = try await server.send("POST", nil, server.item(id))
            try server.require(response, 201)
            server.expect(response.json?["id"]?.string == id, response, "the row with the id '\(id)'")
            server.expect(try await server.send("GET", id), 200, after: response.request)
        },
        rule(
            "create.without-id",
            .both,
            "The server makes an id when it is missing.",
            in: "datasync-protocol 1.3; node-server-protocol2, Insert",
            "Creates two rows without ids and reads each by the id in the answer."
        ) { server in
            var ids: Set<String> = []
            for _ in 0..<2 {
                guard let row = try await server.insertWithoutID(server.ownItem) else { continue }
                ids.insert(row.id)
                server.expect(try await server.send("GET", row.id), 200, after: "POST without an id")
            }
            server.trial.expect(ids.count, equals: 2, "different ids of two rows that were created without one")
        },
        rule(
            "create.null-id",
            .both,
            "The server makes an id when it is null.",
            in: "datasync-protocol 1.3; node-server-protocol2, Insert",
            "Creates a row with the id null."
        ) { server in
            _ = try await server.insertWithoutID(server.ownItem.setting(["id": .null]))
        },
        rule(
            "create.empty-id",
            .both,
            "The server makes an id when it is empty.",
            in: "datasync-protocol 1.3; node-server-protocol2, Insert",
            "Creates a row with an empty id, when asked to try what may leave rows that nobody can delete."
        ) { server in
            try server.requireLastingRows("an empty id may become a row that no address reaches")
            _ = try await server.insertWithoutID(server.ownItem.setting(["id": ""]))
        },
        rule(
            "create.id-form",
            .both,
            "Ids that the server makes are 32 hexadecimal digits (Datasync), or a UUID in lower case (Azure Mobile Apps).",
            in: "datasync-protocol 1.3; node-server-protocol2, Insert",
            for: .nobody,
            "Creates a row without an id."
        ) { server in
            guard let row = try await server.insertWithoutID(server.ownItem) else { return }
            let digits = row.id.filter { $0 != "-" }
            let isRight =
                digits.count == 32 && digits.allSatisfy { "0123456789abcdef".contains($0) }
                && row.id.count == (server.speaks == .datasync ? 32 : 36)
            server.trial.expect(isRight, "POST without an id", expected: "an id of the usual form", got: row.id)
        },
        rule(
            "create.system-columns",
            .both,
            "The answer has the system columns: id, updatedAt, version, deleted; createdAt as well in protocol 2.",
            in: "datasync-protocol 1.3; node-server-protocol2, Insert",
            "Creates a row and looks at the members of the answer."
        ) { server in
            let response = try await server.send("POST", nil, server.item(server.newID()))
            try server.require(response, 201)
            var names = ["id", "updatedAt", "version"]
            if server.speaks == .azureMobileApps { names.append("createdAt") }
            for name in names {
                server.expect(response.json?[name]?.string?.isEmpty == false, response, "the member '\(name)', a text")
            }
            server.expect(response.json?["deleted"] == false, response, "the member 'deleted', false")
        },
        rule(
            "create.whole-row",
            .both,
            "The answer is the row as it is stored.",
            in: "datasync-protocol 1.5; node-server-protocol2, Insert",
            "Creates a row with a value in every column, and holds the answer against the row read by id."
        ) { server in
            let values: [ColumnKind: JSON] = [.text: "whole", .boolean: true, .number: 7.0]
            let steps = "POST \(server.client.table)"
            let response = try await server.send("POST", nil, server.item(server.newID(), values))
            try server.require(response, 201)
            let row = try server.row(of: response)
            server.expectValues(row, values, steps)
            // What a database completes is not in the answers of genuine servers either.
            if server.profile.answersAsSent { return try await server.noteUnlessStored(row, steps) }
            try await server.expectUnchanged(row, after: steps + ", whose answer is another row")
        },
        rule(
            "create.as-stored",
            .both,
            "The answer has what the database makes of a row; genuine servers answer some writes with the row as sent.",
            in: "datasync-genuine III 1, I 1.5; ama-genuine 1.4",
            for: .nobody,
            "Creates a row with a text that ends in spaces and a number of five decimals, updates it, and reads it each time."
        ) { server in
            var values: [ColumnKind: JSON] = [.text: "spaces at the end  "]
            if server.profile.keepsFractions { values[.number] = 0.12345 }
            let made = try await server.send("POST", nil, server.item(server.newID(), values))
            try server.require(made, 201)
            let row = try server.row(of: made)
            try await server.noteUnlessStored(row, "POST \(server.client.table)")
            values[.text] = "spaces again  "
            let response = try await server.answerToUpdate(row, values.filter { server.profile.columns[$0.key] != nil })
            try server.require(response, 200)
            try await server.noteUnlessStored(try server.row(of: response), response.request)
        },
        rule(
            "create.etag",
            .both,
            "The ETag of the answer is the version in double quotes.",
            in: "datasync-protocol 1.2, 1.3; node-server-protocol2, Version and ETag",
            "Creates a row and holds the header against the member 'version'."
        ) { server in
            let response = try await server.send("POST", nil, server.item(server.newID()))
            try server.require(response, 201)
            let row = try server.row(of: response)
            server.expect(response["ETag"] == row.tag, response, "the ETag \(row.tag)")
        },
        rule(
            "create.location",
            .protocol3,
            "The answer to a creation has a Location, which ends with the id.",
            in: "datasync-protocol 1.2, 6.1",
            "Creates a row and looks at the header."
        ) { server in
            let id = server.newID()
            let response = try await server.send("POST", nil, server.item(id))
            try server.require(response, 201)
            server.expect(
                response["Location"]?.hasSuffix("/" + id) == true,
                response,
                "a Location that ends with /\(id)"
            )
        },
        rule(
            "create.last-modified",
            .protocol3,
            "Last-Modified is updatedAt in whole seconds, the fraction cut.",
            in: "datasync-protocol 1.2",
            "Creates a row and holds the header against the member 'updatedAt'."
        ) { server in
            let response = try await server.send("POST", nil, server.item(server.newID()))
            try server.require(response, 201)
            server.expectLastModified(response)
        },
        rule(
            "create.content-type",
            .both,
            "Answers with a row or a page are application/json.",
            in: "datasync-protocol 1.2; node-server-protocol2, Versions and headers",
            "Creates a row, reads it, and asks for a page."
        ) { server in
            let id = server.newID()
            for response in [
                try await server.send("POST", nil, server.item(id)), try await server.send("GET", id),
                try await server.send("GET", query: [("$top", "1")]),
            ] {
                let type = response["Content-Type"]?.lowercased() ?? "none"
                server.expect(
                    type.hasPrefix("application/json"),
                    response,
                    "Content-Type: application/json, not \(type)"
                )
            }
        },
        rule(
            "create.text",
            .both,
            "Text comes back as it was sent.",
            in: "datasync-protocol 1.4, 6.1 #6; node-server-protocol2, Insert",
            for: .column(.text),
            "Creates rows with quotes, line ends, other scripts, emoji and both forms of é, and reads them."
        ) { server in
            let texts = [
                "it's \"quoted\" \\ / <b>&amp;</b>", "line\nend\ttab", "line\r\nend", "Ελληνικά 日本語 עברית", "👩‍👩‍👧 🏳️‍🌈",
                "e\u{301} and \u{E9}", "  spaces  ", "null", "%20+%2B",
            ]
            try await server.expectKept(texts.map { .string($0) }, .text)
        },
        rule(
            "create.empty-text",
            .both,
            "An empty text comes back as one, where the column may be empty.",
            in: "datasync-protocol 1.4, 6.1 #8",
            for: .nobody,
            "Creates a row with an empty text and reads it."
        ) { server in try await server.expectKept([""], .text) },
        rule(
            "create.boolean",
            .both,
            "Truth values come back as JSON's true and false.",
            in: "datasync-protocol 1.4, 6.1 #6",
            for: .column(.boolean),
            "Creates rows with true and false and reads them."
        ) { server in try await server.expectKept([true, false], .boolean) },
        rule(
            "create.number",
            .both,
            "Numbers come back as JSON numbers of the same value.",
            in: "datasync-protocol 1.4, 6.1 #6",
            for: .column(.number),
            "Creates rows with 0, a negative number and a number of ten digits, and reads them."
        ) { server in try await server.expectKept([0.0, 1.0, -1.0, 1_234_567_890.0], .number) },
        rule(
            "create.fraction",
            .both,
            "Numbers come back as JSON numbers of the same value.",
            in: "datasync-protocol 1.4, 6.1 #6",
            for: .fractions,
            "Creates rows with fractions, and reads them."
        ) { server in try await server.expectKept([0.5, -12.25, 0.1], .number) },
        rule(
            "create.absent-is-null",
            .protocol2,
            "An absent or null column comes back as null, never left out.",
            in: "node-server-protocol2, Insert",
            for: .column(.text),
            "Creates a row without the column and one with null, after one that has it."
        ) { server in
            let column = try server.column(.text)
            try await server.insert()
            for item in [server.item(server.newID()).removing(column), server.item(server.newID(), [.text: .null])] {
                let response = try await server.send("POST", nil, item)
                try server.require(response, 201)
                server.expect(response.json?[column] == .null, response, "'\(column)': null")
            }
        },
        rule(
            "create.null",
            .protocol3,
            "A null comes back as a null, where the column may be null.",
            in: "datasync-protocol 1.4",
            for: .nobody,
            "Creates a row with null as its text."
        ) { server in
            let column = try server.column(.text)
            let response = try await server.send("POST", nil, server.item(server.newID(), [.text: .null]))
            try server.require(response, 201)
            server.expect(response.json?[column] == .null, response, "'\(column)': null")
        },
        rule(
            "create.left-out",
            .both,
            "A row is found by what its answer shows of members that were left out: null, or the type's default.",
            in: "datasync-genuine III 5",
            "Creates a row without its truth value, number and instant, and asks for it by what is shown of each."
        ) { server in
            let row = try await server.insert()
            for kind in [ColumnKind.boolean, .number, .date] {
                guard let name = server.profile.columns[kind] else { continue }
                let shown = row[name] ?? .null
                let literal = shown.string.map { server.speaks.instant($0) } ?? "\(shown)"
                let page = try await server.list([("$filter", server.among([row], "\(name) eq \(literal)"))])
                server.expect(page.ids == [row.id], page.response, "the row, which shows '\(name)': \(shown)")
            }
        },
        rule(
            "create.client-stamps",
            .protocol3,
            "Client-sent updatedAt and version in a body are accepted and overwritten.",
            in: "datasync-protocol 1.3, 6.1 #9",
            "Creates a row with a version and an updatedAt of the year 2001, and reads it."
        ) { server in
            let sent: [String: JSON] = ["updatedAt": "2001-02-03T04:05:06.789Z", "version": "dGVzdA=="]
            let response = try await server.send("POST", nil, server.item(server.newID()).setting(sent))
            try server.require(response, 201)
            for (name, value) in sent {
                server.expect(response.json?[name] != value, response, "a '\(name)' of the server's own")
            }
            try await server.expectUnchanged(server.stored(response), after: response.request)
        },
        rule(
            "create.client-deleted",
            .protocol3,
            "Client-sent deleted is stored as sent: creating with deleted:true is allowed, and later reads give 410.",
            in: "datasync-protocol 1.3, 1.5",
            for: .softDelete,
            "Creates a row with deleted:true and reads it."
        ) { server in
            let id = server.newID()
            let response = try await server.send("POST", nil, server.item(id).setting(["deleted": true]))
            try server.require(response, 201)
            server.expect(try await server.send("GET", id), 410, after: response.request)
        },
        rule(
            "create.reserved",
            .protocol2,
            "createdAt, updatedAt and deleted are reserved: a body that has one is a 400, and nothing is stored.",
            in: "node-server-protocol2, Insert",
            "Creates rows with one of the members each."
        ) { server in
            let stamp: JSON = "2001-02-03T04:05:06.789Z"
            let members: [(String, JSON)] = [("createdAt", stamp), ("updatedAt", stamp), ("deleted", false)]
            for (name, value) in members {
                let id = server.newID()
                let response = try await server.send("POST", nil, server.item(id).setting([name: value]))
                server.expect(response, 400)
                try await server.expectAbsent(id, after: response.request)
            }
        },
        rule(
            "create.client-version",
            .protocol2,
            "A version is allowed in an insert.",
            in: "node-server-protocol2, Insert",
            for: .nobody,
            "Creates a row with a version."
        ) { server in
            let item = server.item(server.newID()).setting(["version": "dGVzdA=="])
            server.expect(try await server.send("POST", nil, item), 201)
        },
        rule(
            "create.number-as-id",
            .protocol2,
            "A number as id becomes a text.",
            in: "node-server-protocol2, Insert",
            for: .nobody,
            "Creates a row whose id is a random number."
        ) { server in
            let number = Int.random(in: 1_000_000_000_000...9_000_000_000_000)
            server.note("\(number)")
            let response = try await server.send("POST", nil, server.item(nil).setting(["id": .number(Double(number))]))
            try server.require(response, 201)
            server.expect(response.json?["id"]?.string == "\(number)", response, "the id as a text")
        },
    ]
}

extension ServerTrial {
    /// Creates a row without an id of ours, and reports when the answer has none.
    fileprivate func insertWithoutID(_ item: JSON) async throws -> ServerRow? {
        let response = try await send("POST", nil, item)
        noteIfOwn(response, item)
        try require(response, 201)
        let row = try row(of: response)
        expect(!row.id.isEmpty, response, "an id that the server made")
        return row.id.isEmpty ? nil : row
    }

    /// Creates rows with values in a column, and reports values that do not come back in the answer and by id.
    fileprivate func expectKept(_ values: [JSON], _ kind: ColumnKind) async throws {
        let column = try column(kind)
        for value in values {
            let response = try await send("POST", nil, item(newID(), [kind: value]))
            try require(response, 201)
            expect(response.json?[column] == value, response, "'\(column)': \(value)")
            let row = try row(of: response)
            let again = try await send("GET", row.id)
            expect(again.json?[column] == value, again, "'\(column)': \(value)", after: response.request)
        }
    }

    /// Reports when `Last-Modified` is not the second of the row's `updatedAt`.
    func expectLastModified(_ response: ServerResponse) {
        guard let instant = response.json?["updatedAt"]?.string.flatMap({ Instant(reading: $0) }) else {
            return report(response, expected: "the member 'updatedAt', an instant")
        }
        expect(response["Last-Modified"] == instant.httpDate, response, "Last-Modified: \(instant.httpDate)")
    }
}
