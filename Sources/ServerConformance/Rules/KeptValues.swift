internal import ConformanceRunner

// Values that every way in and out keeps.
extension ServerRules {
    static let keptValues: [Entry] = [
        rule(
            "replace.kept",
            .protocol3,
            "What a replacement sends comes back as it was sent, texts that look like dates too.",
            in: "datasync-protocol 1.4, 1.5; datasync-genuine II 3; ama-genuine 1.7",
            for: .column(.text),
            "Replaces a row several times, with another text, number, truth value and instant each, and reads it."
        ) { server in try await server.expectKeptByUpdates(ManyValues.texts + ManyValues.textsLikeDates) },
        rule(
            "patch.kept",
            .protocol2,
            "What an update sends comes back as it was sent.",
            in: "node-server-protocol2, Update, Dates",
            for: .column(.text),
            "Updates a row several times, with another text, number, truth value and instant each, and reads it."
        ) { server in try await server.expectKeptByUpdates(ManyValues.texts) },
        rule(
            "patch.date-texts",
            .protocol2,
            "An update leaves texts as they are that look like dates.",
            in: "node-server-protocol2, Dates; ama-genuine 1.7",
            for: .column(.text),
            "Updates a row with such texts, and reads it."
        ) { server in try await server.expectKeptByUpdates(ManyValues.textsLikeDates) },
        rule(
            "page.values",
            .both,
            "Lists have every value as the row has it by id, with $select too.",
            in: "datasync-protocol 1.4, 1.5, 1.9; node-server-protocol2, Query",
            for: .column(.text),
            "Makes rows with texts of many signs, a long text and null where the column takes them, numbers, truth values and"
                + " instants, and holds each in a list, with and without $select, against the row by id."
        ) { server in
            let rows = try await server.rowsOfManyValues()
            let names = ["id"] + server.profile.columns.values.sorted() + ["updatedAt", "version", "deleted"]
            for isSelected in [false, true] {
                let query =
                    [("$filter", server.among(rows))] + (isSelected ? [("$select", names.joined(separator: ","))] : [])
                let page = try await server.list(query)
                for row in rows {
                    let wanted: JSON =
                        isSelected ? .object(Dictionary(names.map { ($0, row[$0] ?? .null) }) { $1 }) : row.json
                    let listed = page.rows.first { $0.id == row.id }
                    server.trial.expect(
                        listed?.json == wanted,
                        "\(page.response.request); the row \(row.id)",
                        expected: "as by id: \(brief(wanted))",
                        got: listed.map { brief($0.json) } ?? "no row"
                    )
                }
            }
        },
        rule(
            "create.whole-digits",
            .protocol3,
            "A whole number of 64 bits keeps all its digits or is refused; where there may be fractions it may be the nearest"
                + " binary number.",
            in: "datasync-genuine II 1",
            for: .column(.number),
            "Creates rows with 9007199254740993, -9007199254740995 and 9223372036854775807, and looks for the digits in the"
                + " answers and in the rows by id."
        ) { server in
            for digits in ["9007199254740993", "-9007199254740995", "9223372036854775807"] {
                try await server.expectDigitsKeptOrRefused(digits)
            }
        },
    ]
}

/// Values of every kind of column.
private enum ManyValues {
    /// With no space at an end, which a database may cut. Few: a page of them and two more may hold seven.
    static let texts = [
        "it's \"quoted\" \\ / <b>&amp;</b>", "line\nend\ttab", "Ελληνικά 日本語 עברית 👩‍👩‍👧 🏳️‍🌈",
        "e\u{301} and \u{E9}, %20+%2B", "  spaces first",
    ]
    static let textsLikeDates = ["2024-03-04T05:06:07+02:00", "/Date(0)/"]
    static let wholeNumbers = [0.0, -12, 7, 1_234_567_890]
    static let fractions = [0.1, -12.25, 0.5, 7]
    static let dates = ["2026-07-08T09:10:11.123Z", "1969-12-31T23:59:59.999Z", "2000-02-29T12:00:00.001Z"]
}

extension ServerTrial {
    /// Values for the columns that the table has: a text, and one of many for each of the others.
    private func values(_ text: JSON, _ number: Int) -> [ColumnKind: JSON] {
        let numbers = profile.keepsFractions ? ManyValues.fractions : ManyValues.wholeNumbers
        let values: [ColumnKind: JSON] = [
            .text: text, .boolean: .bool(number % 2 == 0), .number: .number(numbers[number % numbers.count]),
            .date: .string(ManyValues.dates[number % ManyValues.dates.count]),
        ]
        return values.filter { profile.columns[$0.key] != nil }
    }

    /// Updates a row with each of some texts, and reports values that do not come back in the answer and by id.
    fileprivate func expectKeptByUpdates(_ texts: [String]) async throws {
        _ = try column(.text)
        let row = try await insert()
        for (number, text) in texts.enumerated() {
            let values = values(.string(text), number)
            let response = try await update(row, values)
            try require(response, 200)
            expectKept(try self.row(of: response), values, response.request)
            expectKept(try await read(row.id), values, response.request + "; GET")
        }
    }

    /// Reports when the members of a row mean something else than what was sent; an instant may be in another form.
    func expectKept(_ row: ServerRow?, _ sent: [ColumnKind: JSON], _ steps: String) {
        for (kind, value) in sent.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard let name = profile.columns[kind] else { continue }
            let got = row?[name] ?? .null
            let isKept = got == value || kind == .date && instant(got) != nil && instant(got) == instant(value)
            if !isKept { trial.report(steps, expected: "'\(name)': \(brief(value))", got: brief(got)) }
        }
    }

    private func instant(_ value: JSON) -> Instant? { value.string.flatMap { Instant(reading: $0) } }

    /// Rows with many values, as they are by id; without the long text and the null where they are refused.
    fileprivate func rowsOfManyValues() async throws -> [ServerRow] {
        _ = try column(.text)
        let long = String(repeating: "long, ", count: 667).dropLast(2)
        let texts = ManyValues.texts.map { JSON.string($0) } + [.string(String(long)), .null]
        var ids: [String] = []
        for (number, text) in texts.enumerated() {
            let id = newID()
            let response = try await send("POST", nil, item(id, values(text, number)))
            if number >= ManyValues.texts.count, response.isRefusal { continue }
            try require(response, 201)
            ids.append(id)
        }
        var rows: [ServerRow] = []
        for id in ids {
            let response = try await send("GET", id)
            try require(response, 200)
            rows.append(try row(of: response))
        }
        return rows
    }

    /// Creates a row with a number, digit by digit, and reports one that comes back with others, and one that is refused and
    /// stored.
    fileprivate func expectDigitsKeptOrRefused(_ digits: String) async throws {
        let column = try column(.number)
        let id = newID()
        let mark = "the digits of the number"
        // As a number it would lose the last digits here.
        let text = String(decoding: try item(id, [.number: .string(mark)]).bytes, as: UTF8.self)
        let body = Array(text.replacing("\"\(mark)\"", with: digits).utf8)
        let response = try await send(ServerRequest(method: "POST", body: body))
        if response.isRefusal { return try await expectAbsent(id, after: response.request) }
        try require(response, 201)
        for (answer, steps) in [(response, ""), (try await send("GET", id), response.request)] {
            let isKept =
                profile.keepsFractions
                ? answer.json?[column]?.number == Double(digits) : answer.digits(of: column) == digits
            expect(isKept, answer, "'\(column)': \(digits), or a refusal", after: steps)
        }
    }
}

extension ServerResponse {
    /// The number that is a member's value, as it stands in the body; nil when there is none.
    fileprivate func digits(of member: String) -> String? {
        let text = String(decoding: body, as: UTF8.self)
        guard let name = text.firstRange(of: "\"\(member)\"") else { return nil }
        let digits = text[name.upperBound...].drop { $0.isWhitespace || $0 == ":" }
            .prefix { $0.isNumber || "+-.eE".contains($0) }
        return digits.isEmpty ? nil : String(digits)
    }
}
