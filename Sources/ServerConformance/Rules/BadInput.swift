internal import ConformanceRunner

extension ServerRules {
    private static let brokenBodies = [
        "{", "{\"id\":", "not json", "{\"id\": \"x\" \"y\"}", "\u{0}", "{\"id\": tru}",
    ]

    static let badInput: [Entry] = [
        rule(
            "input.broken-json",
            .both,
            "A body that is not JSON is refused, and nothing is stored.",
            in: "datasync-protocol 1.5; node-server-protocol2, Insert",
            "Creates rows with bodies that break off or are not JSON."
        ) { server in
            for text in brokenBodies {
                let response = try await server.send(ServerRequest(method: "POST", body: Array(text.utf8)))
                server.expect(response.isRefusal, response, "a refusal")
            }
            let id = server.newID()
            let text = "{\"id\": \"\(id)\", \"\(server.profile.columns[.text] ?? "text")\": \"x"
            let response = try await server.send(ServerRequest(method: "POST", body: Array(text.utf8)))
            server.expect(response.isRefusal, response, "a refusal")
            try await server.expectAbsent(id, after: response.request)
        },
        rule(
            "input.broken-json-status",
            .both,
            "A body that is not JSON is a 400; some genuine Datasync servers say 500.",
            in: "datasync-protocol 1.5, 1.7; node-server-protocol2, Insert",
            for: .nobody,
            "Creates rows with bodies that break off or are not JSON."
        ) { server in
            for text in brokenBodies {
                server.expect(try await server.send(ServerRequest(method: "POST", body: Array(text.utf8))), 400)
            }
        },
        rule(
            "input.broken-update",
            .both,
            "An update whose body is not JSON is refused, and nothing is changed.",
            in: "datasync-protocol 1.5; node-server-protocol2, exchange 73",
            "Updates a row with bodies that break off or are not JSON."
        ) { server in
            let row = try await server.insert()
            for text in brokenBodies {
                let request = ServerRequest(
                    method: server.speaks.updateMethod,
                    suffix: ServerRequest.path(of: row.id),
                    body: Array(text.utf8)
                )
                let response = try await server.send(request)
                server.expect(response.isRefusal, response, "a refusal")
            }
            try await server.expectUnchanged(row, after: "broken updates")
        },
        rule(
            "input.no-object",
            .both,
            "A body that is not an object is refused.",
            in: "datasync-protocol 1.5; node-server-protocol2, Insert",
            "Creates rows with an array, a text and a number as body."
        ) { server in
            let id = server.newID()
            for body in [.array([server.item(id)]), "text", 12.0] as [JSON] {
                let response = try await server.send("POST", nil, body)
                server.expect(response.isRefusal, response, "a refusal")
            }
            try await server.expectAbsent(id, after: "POST of an array with the row")
        },
        rule(
            "input.null-body",
            .protocol3,
            "A body that is null is a 400.",
            in: "datasync-protocol 1.5",
            "Creates a row with null as body."
        ) { server in server.expect(try await server.send("POST", nil, .null), 400) },
        rule(
            "input.empty-body",
            .protocol3,
            "An empty body is refused.",
            in: "datasync-protocol 1.5",
            "Creates and replaces a row without a body."
        ) { server in
            let row = try await server.insert()
            let responses = [
                try await server.send(ServerRequest(method: "POST", body: [])),
                try await server.send(ServerRequest(method: "PUT", suffix: ServerRequest.path(of: row.id), body: [])),
            ]
            for response in responses { server.expect(response.isRefusal, response, "a refusal") }
            try await server.expectUnchanged(row, after: "PUT without a body")
        },
        rule(
            "input.content-type",
            .protocol3,
            "A body that is not called application/json is a 415, and nothing is stored.",
            in: "datasync-protocol 1.2, 6.1 #7, 6.3 #18",
            "Creates and replaces rows with the types text/plain, a form's, and none."
        ) { server in
            let row = try await server.insert()
            for type in ["text/plain", "application/x-www-form-urlencoded", nil] {
                let id = server.newID()
                let response = try await server.send("POST", headers: ["Content-Type": type], server.item(id))
                server.expect(response, 415)
                try await server.expectAbsent(id, after: response.request)
                let update = try await server.update(row, [.text: "wrong"], headers: ["Content-Type": type])
                server.expect(update, 415)
            }
            try await server.expectUnchanged(row, after: "PUT with another type")
        },
        rule(
            "input.content-type-refused",
            .protocol2,
            "A body that is not called application/json is refused, and nothing is stored.",
            in: "node-server-protocol2, Insert, exchange 22",
            "Creates rows with a form's type, and with a form."
        ) { server in
            let type = ["Content-Type": "application/x-www-form-urlencoded"]
            let id = server.newID()
            let response = try await server.send("POST", headers: type, server.item(id))
            server.expect(response.isRefusal, response, "a refusal")
            try await server.expectAbsent(id, after: response.request)
            let form = Array("id=\(server.newID())".utf8)
            let other = try await server.send(
                ServerRequest(method: "POST", headers: ["Content-Type": type["Content-Type"]], body: form)
            )
            server.expect(other.isRefusal, other, "a refusal")
        },
        rule(
            "input.content-type-parameter",
            .both,
            "application/json may have a parameter, such as charset=utf-8.",
            in: "datasync-protocol 1.2",
            "Creates a row with it."
        ) { server in
            let type = ["Content-Type": "application/json; charset=utf-8"]
            server.expect(try await server.send("POST", headers: type, server.item(server.newID())), 201)
        },
        rule(
            "input.wrong-type",
            .both,
            "A value of the wrong type is refused, or the row is stored as the answer says; never half of either.",
            in: "datasync-protocol 1.4, 1.5; node-server-protocol2, exchanges 30 and 31",
            "Creates rows with an object as text, a text as truth value and a text as number, and reads them."
        ) { server in
            for (kind, value) in [(.text, ["a": 1.0]), (.boolean, "maybe"), (.number, "many")] as [(ColumnKind, JSON)]
            where server.profile.columns[kind] != nil {
                let id = server.newID()
                let response = try await server.send("POST", nil, server.item(id, [kind: value]))
                if response.isSuccess {
                    try await server.expectUnchanged(server.stored(response), after: response.request)
                } else {
                    server.expect(response.isRefusal, response, "a row or a refusal")
                    try await server.expectAbsent(id, after: response.request)
                }
            }
        },
        rule(
            "input.wrong-type-status",
            .both,
            "A value of the wrong type is a 4xx; genuine servers convert it, or say 500.",
            in: "datasync-protocol 1.5; node-server-protocol2, exchanges 30 and 31",
            for: .nobody,
            "Creates rows with a text as truth value and a text as number."
        ) { server in
            for (kind, value) in [(.boolean, "maybe"), (.number, "many")] as [(ColumnKind, JSON)]
            where server.profile.columns[kind] != nil {
                let response = try await server.send("POST", nil, server.item(server.newID(), [kind: value]))
                server.expect((400...499).contains(response.status), response, "a 4xx")
            }
        },
        rule(
            "input.wrong-id",
            .both,
            "An id that is an object or an array is refused.",
            in: "datasync-protocol 1.3",
            for: .nobody,
            "Creates rows with such ids."
        ) { server in
            for id in [[:], .array([])] as [JSON] {
                let item = server.ownItem.setting(["id": id])
                let response = try await server.send("POST", nil, item)
                server.noteIfOwn(response, item)
                server.expect((400...499).contains(response.status), response, "a 4xx")
            }
        },
        rule(
            "input.long-id",
            .both,
            "An over-long id is refused and stores nothing, or names a row like any other.",
            in: "datasync-protocol 1.3",
            "Creates a row with an id of 255 characters and reads it."
        ) { server in try await server.expectLongIDs([255]) },
        rule(
            "input.longer-id",
            .both,
            "An over-long id is refused and stores nothing, or names a row like any other.",
            in: "datasync-protocol 1.3; node-server-protocol2, the note at the top",
            "Creates rows with ids of 300 and 1000 characters and reads them, when asked to try what may stop others."
        ) { server in
            try server.requireLastingRows("after an id over 255 signs some clients cannot pull the table any more")
            try await server.expectLongIDs([300, 1_000])
        },
        rule(
            "input.deep-json",
            .both,
            "A body of thousands of nested arrays is refused, and the server goes on.",
            in: "datasync-protocol 1.5",
            "Creates a row with such a body, and another one after it."
        ) { server in
            let text = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
            let response = try await server.send(ServerRequest(method: "POST", body: Array(text.utf8)))
            server.expect(response.isRefusal, response, "a refusal")
            try await server.insert()
        },
        rule(
            "input.quotes-in-text",
            .both,
            "What looks like a statement is text, in rows and in filters.",
            in: "datasync-protocol 1.9, 7.10",
            for: .column(.text),
            "Creates a row with such text, and finds it by that text."
        ) { server in
            let text = "'); DELETE FROM TodoItem; --"
            let row = try await server.insert([.text: .string(text)])
            let literal = "'" + text.replacing("'", with: "''") + "'"
            let page = try await server.list([
                ("$filter", server.among([row], "\(try server.column(.text)) eq \(literal)"))
            ])
            server.expect(page.ids == [row.id], page.response, "the row")
        },
        rule(
            "input.method",
            .both,
            "A method that the table's path does not have is refused, and nothing is stored.",
            in: "datasync-protocol 1.1; node-server-protocol2, Versions and headers",
            "Sends PUT with a row to the table's path."
        ) { server in
            let id = server.newID()
            let response = try await server.send("PUT", nil, server.item(id))
            server.expect(response.isRefusal, response, "a refusal")
            try await server.expectAbsent(id, after: response.request)
        },
        rule(
            "input.unknown-parameter",
            .both,
            "A parameter that is not an option of the protocol does no harm.",
            in: "datasync-protocol 1.9",
            "Asks for a page with a parameter of its own."
        ) { server in server.expect(try await server.send("GET", query: [("$top", "1"), ("conform", "x y&z")]), 200) },
        rule(
            "input.unknown-option",
            .both,
            "An option with a dollar sign that the protocol does not have is no 5xx.",
            in: "datasync-protocol 1.9",
            for: .nobody,
            "Asks for pages with such options."
        ) { server in
            for name in ["$what", "$apply", "$search"] {
                let response = try await server.send("GET", query: [(name, "x")])
                server.expect(response.status < 500, response, "no 5xx")
            }
        },
        rule(
            "input.bad-escapes",
            .both,
            "A path with broken percent-encoding is not a success.",
            in: "datasync-protocol 1.7",
            "Reads rows at paths with broken escapes."
        ) { server in
            for suffix in ["/%", "/%zz", "/%ff%fe"] {
                let response = try await server.send(ServerRequest(method: "GET", suffix: suffix))
                server.expect(response.isRefusal, response, "a refusal")
            }
        },
    ]
}

extension ServerTrial {
    /// Reports ids of some lengths that neither name a row nor are refused without one.
    fileprivate func expectLongIDs(_ lengths: [Int]) async throws {
        for length in lengths {
            let id = newID(String(repeating: "x", count: length - runName.count - 7))
            let response = try await send("POST", nil, item(id))
            let read = try await send("GET", id)
            if response.isSuccess {
                expect(response.json?["id"]?.string == id, response, "the id as it was sent")
                expect(read, 200, after: response.request)
            } else {
                expect(response.isRefusal, response, "a row or a refusal")
                expect(read.isRefusal, read, "no such row", after: response.request)
            }
        }
    }
}
