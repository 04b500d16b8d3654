internal import ConformanceRunner

extension ServerRules {
    static let versions: [Entry] = [
        rule(
            "version.header",
            .both,
            "A request whose ZUMO-API-VERSION names the protocol is served: 3.0.0, or 2.0.0.",
            in: "datasync-protocol 1.2, 2.1",
            "Asks for a page with the header."
        ) { server in
            let response = try await server.send("GET", query: [("$top", "1")])
            server.expect(response, 200)
        },
        rule(
            "version.header-name-case",
            .both,
            "The name of the header may be written in any case.",
            in: "node-server-protocol2, Versions and headers",
            "Asks for a page with the header in lower case."
        ) { server in
            let version: [String: String?] = ["ZUMO-API-VERSION": nil, "zumo-api-version": server.speaks.version]
            server.expect(try await server.send("GET", query: [("$top", "1")], headers: version), 200)
        },
        rule(
            "version.absent-served",
            .protocol3,
            "A request without a version is served; some servers refuse it.",
            in: "datasync-protocol 1.2, 7.13",
            for: .nobody,
            "Asks for a page without the header."
        ) { server in
            server.expect(try await server.send("GET", query: [("$top", "1")], headers: ["ZUMO-API-VERSION": nil]), 200)
        },
        rule(
            "version.absent-refused",
            .protocol2,
            "Without a protocol version, or with one that is not 2.0.x: 400.",
            in: "node-server-protocol2, Versions and headers",
            "Asks for a page without the header."
        ) { server in
            server.expect(try await server.send("GET", query: [("$top", "1")], headers: ["ZUMO-API-VERSION": nil]), 400)
        },
        rule(
            "version.other-refused",
            .protocol2,
            "Without a protocol version, or with one that is not 2.0.x: 400.",
            in: "node-server-protocol2, Versions and headers",
            "Asks for a page with the versions 2.1.0, 1.0.0, 9.9.9, 2 and x."
        ) { server in
            for version in ["2.1.0", "1.0.0", "9.9.9", "2", "x"] {
                let headers = ["ZUMO-API-VERSION": version]
                server.expect(try await server.send("GET", query: [("$top", "1")], headers: headers), 400)
            }
        },
        rule(
            "version.refused-does-nothing",
            .protocol2,
            "A request that is refused for its version is not carried out.",
            in: "node-server-protocol2, Versions and headers",
            "Creates, changes and deletes rows without the header, and looks whether anything happened."
        ) { server in
            let row = try await server.insert()
            let id = server.newID()
            let none: [String: String?] = ["ZUMO-API-VERSION": nil]
            let insert = try await server.send("POST", headers: none, server.item(id))
            server.expect(insert, 400)
            try await server.expectAbsent(id, after: insert.request)
            let update = try await server.update(row, headers: none)
            server.expect(update, 400)
            try await server.expectUnchanged(row, after: update.request)
            let deletion = try await server.send("DELETE", row.id, headers: none)
            server.expect(deletion, 400)
            try await server.expectUnchanged(row, after: deletion.request)
        },
        rule(
            "version.patch-level",
            .protocol2,
            "Every 2.0.x is the protocol.",
            in: "node-server-protocol2, Versions and headers",
            "Asks for a page with the version 2.0.1."
        ) { server in
            let headers = ["ZUMO-API-VERSION": "2.0.1"]
            server.expect(try await server.send("GET", query: [("$top", "1")], headers: headers), 200)
        },
        rule(
            "version.in-query",
            .protocol2,
            "The version may be a parameter of the query instead, its name in any case.",
            in: "node-server-protocol2, Versions and headers",
            "Asks for a page with the version in the query, in upper and lower case."
        ) { server in
            for name in ["ZUMO-API-VERSION", "zumo-api-version"] {
                let query = [(name, "2.0.0"), ("$top", "1")]
                server.expect(try await server.send("GET", query: query, headers: ["ZUMO-API-VERSION": nil]), 200)
            }
        },
    ]
}
