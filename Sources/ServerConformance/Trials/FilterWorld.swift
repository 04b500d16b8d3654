internal import ConformanceRunner

/// Rows with known values, to ask questions about.
struct FilterWorld: Sendable {
    let rows: [ServerRow]

    /// Texts whose order is the same with and without regard to case.
    static let texts = ["apple", "Banana", "cherry pie", "date's", "elder", "fig"]
    /// Whole numbers: a column of integers takes them too.
    static let numbers = [1, 4, -3, 10, 4, 0]
    static let booleans = [true, false, true, false, true, false]
}

extension ServerTrial {
    /// Makes the rows.
    func world() async throws -> FilterWorld {
        var rows: [ServerRow] = []
        for index in FilterWorld.texts.indices {
            rows.append(
                try await insert([
                    .text: .string(FilterWorld.texts[index]), .number: .number(Double(FilterWorld.numbers[index])),
                    .boolean: .bool(FilterWorld.booleans[index]),
                ])
            )
        }
        return FilterWorld(rows: rows)
    }

    /// Reports filters that do not find the rows they must, by number. Order does not count.
    ///
    /// In a filter, `text`, `number` and `boolean` in braces stand for the server's columns.
    func expectFound(
        _ cases: [(filter: String, found: [Int])],
        in world: FilterWorld,
        mayBeRefused: Bool = false
    ) async throws {
        for (template, found) in cases {
            let filter = try named(template)
            guard let ids = try await foundIDs(among(world.rows, filter), mayBeRefused: mayBeRefused) else { continue }
            let got = world.rows.indices.filter { ids.contains(world.rows[$0].id) }
            trial.expect(
                got == found,
                "GET \(client.table)?$filter=\(filter)",
                expected: shown(found, world),
                got: shown(got, world)
            )
        }
    }

    /// Reports filters over rows with the numbers 2.5, 0.25 and 3 that do not find what they must.
    func expectFractionsFound(
        _ cases: [(filter: String, found: [Int])],
        mayBeRefused: Bool = false
    ) async throws {
        var rows: [ServerRow] = []
        for number in [2.5, 0.25, 3] { rows.append(try await insert([.number: .number(number)])) }
        for (template, found) in cases {
            let filter = try named(template)
            guard let ids = try await foundIDs(among(rows, filter), mayBeRefused: mayBeRefused) else { continue }
            let got = rows.indices.filter { ids.contains(rows[$0].id) }
            trial.expect(
                got == found,
                "GET \(client.table)?$filter=\(filter)",
                expected: brief(found.map { rows[$0].json }),
                got: brief(got.map { rows[$0].json })
            )
        }
    }

    /// The ids that a filter finds; nil when it is refused, which is reported, or noted when it may be.
    func foundIDs(_ filter: String, mayBeRefused: Bool) async throws -> Set<String>? {
        let query = [("$filter", filter)]
        let response = try await send("GET", query: query)
        if mayBeRefused, noteUntranslated(response) { return nil }
        guard expect(response, 200) else { return nil }
        return Set(try await rows(from: try page(of: response), query).map(\.id))
    }

    /// Notes an answer when it is a refusal: what the server's database or library cannot do is no fault as long as no
    /// wrong rows come.
    func noteUntranslated(_ response: ServerResponse) -> Bool {
        guard [400, 500, 501].contains(response.status) else { return false }
        trial.note(
            response.request,
            expected: "rows",
            got: "\(response)",
            remark: "what this server stands on cannot do that, and it says so; clients must not send it"
        )
        return true
    }

    /// The text with the server's names of columns.
    func named(_ template: String) throws -> String {
        var text = template
        for kind in ColumnKind.allCases where template.contains("{\(kind.rawValue)}") {
            text = text.replacing("{\(kind.rawValue)}", with: try column(kind))
        }
        return text
    }

    private func shown(_ indexes: [Int], _ world: FilterWorld) -> String {
        let rows = indexes.map { index in
            "\(FilterWorld.texts[index]) \(FilterWorld.numbers[index]) \(FilterWorld.booleans[index])"
        }
        return rows.isEmpty ? "no row" : rows.joined(separator: ", ")
    }
}
