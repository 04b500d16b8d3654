import Foundation
import Testing

@testable import DatasyncEmulator

/// What a genuine Node server was recorded to answer, replayed in order.
struct NodeFixtureTests {
    struct Exchange: Decodable {
        struct Request: Decodable {
            let method: String
            let target: String
            let headers: [String: String]
            let body: String
        }

        struct Response: Decodable {
            let status: Int
            let headers: [String: String]
            let body: String
        }

        let number: Int
        let title: String
        /// What the server's clock said when it changed a row.
        let at: String?
        let request: Request
        let response: Response
    }

    private let clock = ManualClock()
    private let client: Client

    init() {
        let table = EmulatedTableDefinition("TodoItem", columns: ["text": .text, "complete": .boolean])
        client = Client(.azureMobileApps, tables: [table], clock: clock)
    }

    private func exchanges(_ name: String) throws -> [Exchange] {
        let url = try #require(Bundle.module.url(forResource: "Fixtures/\(name)", withExtension: "json"))
        return try JSONDecoder().decode([Exchange].self, from: Data(contentsOf: url))
    }

    private func replay(_ name: String) async throws {
        for exchange in try exchanges(name) {
            if let ticks = exchange.at.flatMap({ Timestamp.ticks(isoText: $0) }) {
                clock.set(ticks / Timestamp.ticksPerMillisecond)
            }
            var request = EmulatorRequest(exchange.request.method, exchange.request.target)
            request.body = Data(exchange.request.body.utf8)
            for (name, value) in exchange.request.headers {
                request.headers[name] = value
            }
            let answer = try await client.emulator.handle(request)
            compare(answer, with: exchange.response, "\(exchange.number). \(exchange.title)")
        }
    }

    private func compare(_ answer: EmulatorResponse, with expected: Exchange.Response, _ title: String) {
        let comment = Comment(rawValue: title)
        #expect(answer.status == expected.status, comment)
        for (name, value) in expected.headers {
            if value == "W/" {
                #expect(answer.headers[name]?.hasPrefix("W/\"") == true, comment)
            } else {
                #expect(answer.headers[name] == value, "\(title): \(name)")
            }
        }
        for (name, _) in answer.headers {
            #expect(expected.headers.keys.contains { $0.lowercased() == name.lowercased() }, "\(title): \(name)")
        }
        let body = String(decoding: answer.body, as: UTF8.self)
        guard let json = try? JSONParser.parse(expected.body.utf8) else {
            #expect(body == expected.body, comment)
            return
        }
        #expect((try? JSONParser.parse(answer.body)).map(normalised) == normalised(json), comment)
    }

    /// Ids the server made are made anew each time; everything else has to be the same to the letter.
    private func normalised(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text) where text.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil: "a UUID"
        case .array(let elements): .array(elements.map(normalised))
        case .object(let members): .object(members.mapValues(normalised))
        default: value
        }
    }

    @Test("section A: protocol versions")
    func versions() async throws {
        try await replay("protocol-version")
    }

    @Test("sections B, D and G: insert, update, dates and the pull query")
    func rows() async throws {
        try await replay("insert")
        try await replay("update")
        // Rows of a section that is not printed in the record.
        let seeds = [("q010", 385, true, 2.5), ("q011", 389, false, 2.75)]
            .map { id, millisecond, complete, amount in
                let stamp = JSONValue.string("2026-11-21T01:35:19.\(millisecond)Z")
                return [
                    "id": .string(id), "text": .string("row 0\(id.suffix(2))"), "complete": .bool(complete),
                    "amount": .double(amount), "createdAt": stamp, "updatedAt": stamp, "version": "MQ==",
                ]
            }
        try client.emulator.seed(seeds, in: "todoitem")
        try await replay("dates-and-pull")
    }
}
