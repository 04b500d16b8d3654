internal import ConformanceRunner

// Values that a column may be too narrow for.
extension ServerRules {
    static let wideValues: [Entry] = [
        rule(
            "create.long-text",
            .both,
            "A long text is kept as it is, or refused; it never becomes another one.",
            in: "datasync-protocol 1.4; node-server-protocol2, Insert",
            for: .column(.text),
            "Creates rows with texts of 4,000, 9,000 and 70,000 characters, and reads them."
        ) { server in
            let texts = [4_000, 9_000, 70_000]
                .map { count in
                    String((0..<count).map { Character(UnicodeScalar(97 + UInt8($0 * 7 % 26))) })
                }
            try await server.expectKeptOrRefused(texts.map { .string($0) }, .text)
        },
        rule(
            "create.wide-number",
            .both,
            "A number of many digits is kept as it is, or refused; it never becomes another one.",
            in: "datasync-protocol 1.4, 6.1 #6; datasync-genuine II 1",
            for: .column(.number),
            "Creates rows with 3000000000 and 9007199254740991, and where there may be fractions with 0.12345,"
                + " 0.30000000000000004 and 1e-7, and reads them."
        ) { server in
            let fractions: [JSON] = [0.12345, 0.30000000000000004, 1e-7]
            let numbers: [JSON] = [3_000_000_000.0, 9_007_199_254_740_991.0]
            try await server.expectKeptOrRefused(numbers + (server.profile.keepsFractions ? fractions : []), .number)
        },
    ]
}

extension ServerTrial {
    /// Creates rows with values in a column, and reports values that come back as others, and rows that are refused and
    /// stored.
    fileprivate func expectKeptOrRefused(_ values: [JSON], _ kind: ColumnKind) async throws {
        let column = try column(kind)
        for value in values {
            let id = newID()
            let response = try await send("POST", nil, item(id, [kind: value]))
            guard !response.isRefusal else {
                try await expectAbsent(id, after: response.request)
                continue
            }
            try require(response, 201)
            expect(response.json?[column] == value, response, "'\(column)': \(brief(value)), or a refusal")
            let again = try await send("GET", id)
            expect(again.json?[column] == value, again, "'\(column)': \(brief(value))", after: response.request)
        }
    }
}
