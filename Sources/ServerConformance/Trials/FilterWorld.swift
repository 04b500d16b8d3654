internal import ConformanceRunner

/// Rows with known values, to ask questions about.
struct FilterWorld: Sendable {
    let rows: [ServerRow]

    /// Texts whose order is the same with and without regard to case.
    static let texts = ["apple", "Banana", "cherry pie", "date's", "elder", "fig"]
    static let numbers = [1, 2.5, -3, 10, 2.5, 0]
    static let booleans = [true, false, true, false, true, false]
}

extension ServerTrial {
    /// Makes the rows.
    func world() async throws -> FilterWorld {
        var rows: [ServerRow] = []
        for index in FilterWorld.texts.indices {
            rows.append(
                try await insert([
                    .text: .string(FilterWorld.texts[index]), .number: .number(FilterWorld.numbers[index]),
                    .boolean: .bool(FilterWorld.booleans[index]),
                ])
            )
        }
        return FilterWorld(rows: rows)
    }

    /// Reports filters that do not find the rows they must, by number. Order does not count.
    ///
    /// In a filter, `text`, `number` and `boolean` in braces stand for the server's columns.
    func expectFound(_ cases: [(filter: String, found: [Int])], in world: FilterWorld) async throws {
        for (template, found) in cases {
            let filter = try named(template)
            let response = try await send("GET", query: [("$filter", among(world.rows, filter))])
            guard expect(response, 200) else { continue }
            let ids = Set(try page(of: response).ids)
            let got = world.rows.indices.filter { ids.contains(world.rows[$0].id) }
            trial.expect(
                got == found,
                "GET \(client.table)?$filter=\(filter)",
                expected: shown(found, world),
                got: shown(got, world)
            )
        }
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
