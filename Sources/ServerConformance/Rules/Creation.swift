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
            let answer = try await server.send("POST", nil, server.item(id))
            try server.require(answer, 201)
            server.expect(answer.json?["id"]?.string == id, answer, "the row with the id '\(id)'")
            server.expect(try await server.send("GET", id), 200, after: answer.request)
        }
    ]
}
