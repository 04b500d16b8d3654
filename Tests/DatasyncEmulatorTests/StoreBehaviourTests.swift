import Foundation
import Testing

@testable import DatasyncEmulator

/// What databases do in their own way.
struct StoreBehaviourTests {
    private func list(_ client: Client, _ options: [(String, String)]) async throws -> [String] {
        let query = options.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
        return try await client.get("/tables/todoitem?" + query).ids
    }

    @Test("nulls come first or last, and the other way round when the order descends")
    func nulls() async throws {
        for (isLast, ascending) in [(false, ["n", "a", "b"]), (true, ["a", "b", "n"])] {
            let client = Client { $0.store.sortsNullsLast = isLast }
            let rows: [[String: JSONValue]] = [["id": "a", "x": 1], ["id": "n", "x": nil], ["id": "b", "x": 2]]
            try client.emulator.seed(rows, in: "todoitem")
            #expect(try await list(client, [("$orderby", "x")]) == ascending)
            #expect(try await list(client, [("$orderby", "x desc")]) == ascending.reversed())
        }
    }

    @Test("a collation without case compares and orders texts and ids so, and knows one row by both spellings")
    func collation() async throws {
        let client = Client { $0.store.ignoresCase = true }
        let rows: [[String: JSONValue]] = [
            ["id": "B", "x": "Beta"], ["id": "a", "x": "ALPHA"], ["id": "c", "x": "beta"],
        ]
        try client.emulator.seed(rows, in: "todoitem")
        #expect(try await list(client, []) == ["a", "B", "c"])
        #expect(try await list(client, [("$filter", "x eq 'BETA'")]) == ["B", "c"])
        #expect(try await list(client, [("$filter", "x in ('BETA')")]) == ["B", "c"])
        #expect(try await list(client, [("$filter", "x lt 'b'")]) == ["a"])
        #expect(try await list(client, [("$filter", "id gt 'A'")]) == ["B", "c"])
        #expect(try await list(client, [("$orderby", "x desc")]) == ["B", "c", "a"])
        #expect(try await client.get("/tables/todoitem/b").json["id"] == "B")
        #expect(try await client.send("POST", "/tables/todoitem", json: ["id": "A"]).status == 409)
        #expect(try await list(Client(), [("$filter", "id gt 'A'")]).isEmpty)
    }

    @Test(
        "a write is answered as sent where the database keeps another form, which a read shows under the same version"
    )
    func answersAsSent() async throws {
        let client = Client { $0.store.answersAsSent = true }
        let sent =
            try await client.send(
                "POST",
                "/tables/todoitem",
                json: ["id": "a", "price": 1.005_9, "text": "two  "]
            )
            .json
        #expect(sent["price"] == 1.005_9 && sent["text"] == "two  ")
        let read = try await client.get("/tables/todoitem/a").json
        #expect(read["price"] == 1.01 && read["text"] == "two")
        #expect(read["version"] == sent["version"] && read["updatedAt"] == sent["updatedAt"])
    }

    @Test("an update is answered as the database keeps it by the server that reads the row again")
    func readAgain() async throws {
        for edition in [EmulatorConfiguration.Edition.usual, .predecessor] {
            let client = Client {
                $0.edition = edition
                $0.store.answersAsSent = true
                $0.store.filledColumn = "by"
                $0.tables = [.init("todoitem", columns: ["text": .text.optional, "by": .text.optional])]
            }
            let headers: HTTPHeaderFields = ["ZUMO-API-VERSION": "3.0.0"]
            let row: JSONValue = ["id": "a", "text": "two  "]
            let made = try await client.send("POST", "/tables/todoitem", headers, json: row).json
            #expect(made["text"] == "two  " && made["by"] == .null)
            let answer = try await client.send("PUT", "/tables/todoitem/a", headers, json: row).json
            let read = try await client.send("GET", "/tables/todoitem/a", headers).json
            #expect(read["text"] == "two" && read["by"]?.string == "of version \(read["version"]?.string ?? "")")
            #expect((answer == read) == (edition == .usual))
            #expect(answer["version"] == read["version"])
        }
    }

    @Test("a server that makes ids ignores those that are sent", arguments: EmulatorConfiguration.Dialect.allCases)
    func assignsIDs(dialect: EmulatorConfiguration.Dialect) async throws {
        let client = Client(dialect) { $0.store.assignsIDs = true }
        let ids = try await (0..<2)
            .asyncMap { _ in
                try await client.send("POST", "/tables/todoitem", json: ["id": "mine"]).json["id"]?.string
            }
        #expect(Set(ids).count == 2 && !ids.contains("mine") && !ids.contains(nil))
    }

    @Test("protocol 2 takes a condition over null for unknown, protocol 3 for false")
    func nullLogic() async throws {
        let rows: [[String: JSONValue]] = [
            ["id": "1", "text": "a", "done": true], ["id": "2", "text": "b"], ["id": "3"],
        ]
        let cases: [(filter: String, protocol2: [String], protocol3: [String])] = [
            ("text ne 'a'", ["2"], ["2", "3"]),
            ("not (text eq 'a')", ["2"], ["2", "3"]),
            ("not (text eq 'a' or text eq 'x')", ["2"], ["2", "3"]),
            ("not (text eq 'a' and id eq '1')", ["2", "3"], ["2", "3"]),
            ("text eq 'a' or id eq '3'", ["1", "3"], ["1", "3"]),
            ("text ne null", ["1", "2"], ["1", "2"]),
            ("not (text eq null)", ["1", "2"], ["1", "2"]),
            ("text eq null", ["3"], ["3"]),
            ("not done", [], ["2", "3"]),
            ("length(text) ne 1", [], ["3"]),
        ]
        let two = Client(.azureMobileApps)
        let three = Client()
        try two.emulator.seed(rows, in: "todoitem")
        try three.emulator.seed(rows, in: "todoitem")
        for (filter, protocol2, protocol3) in cases {
            #expect(try await list(two, [("$filter", filter)]) == protocol2, "protocol 2: \(filter)")
            #expect(try await list(three, [("$filter", filter)]) == protocol3, "protocol 3: \(filter)")
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { try await values.append(transform(element)) }
        return values
    }
}
