internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let values: [StoreRule] =
        roundTrips.map { name, sentence, source, column, samples, procedure in
            rule(
                "values." + name,
                sentence,
                in: source,
                procedure + ". Reads back by id, by query and in the same transaction."
            ) { trial in
                let store = try await trial.makeStore()
                let records = samples.enumerated().map { Record(id: .string("\($0.offset)"), [column: $0.element]) }
                try await trial.expectStored(records, in: .items, store)
            }
        } + otherValues

    typealias RoundTrip = (
        name: String, sentence: String, source: String, column: String, samples: [FieldValue], procedure: String
    )

    /// What a column of a type must keep, by the names of the rules.
    static let roundTrips: [RoundTrip] = [
        (
            "bool", "Every value comes back as it went in", "SyncContextDataSource", "bool", [true, false],
            "Writes true and false: truth values come back, not numbers and not text"
        ),
        (
            "int64", "A whole number.", "FieldValue", "int",
            [0, 1, -1, .int64(.max), .int64(.min), .int64(1 << 53 + 1), .int64(-(1 << 53) - 1), 4_294_967_296],
            "Writes whole numbers up to both ends of 64 bits and beyond 2⁵³, which no double holds"
        ),
        (
            "double", "It comes back bit for bit, but for the sign of zero.", "FieldValue", "double",
            [
                0.1, 0.30000000000000004, 1e300, -1e-300, .double(.leastNonzeroMagnitude),
                .double(.greatestFiniteMagnitude),
                .double(.leastNormalMagnitude), .double(.pi), .double(1.0.nextUp), .double(9_007_199_254_740_994),
                .double(123_456_789.123_456_79), .double(1), .double(-2),
            ],
            "Writes doubles from the smallest to the largest with all their digits, and whole ones, which stay doubles"
        ),
        (
            "double-infinity", "infinities are kept, but cannot be sent to a server.", "FieldValue", "double",
            [.double(.infinity), .double(-.infinity)], "Writes both infinities"
        ),
        (
            "decimal-text", "A decimal number, kept as the text it came in.", "FieldValue", "decimal",
            [
                .decimal("1.10"), .decimal("1.1"), .decimal("1e0"), .decimal("1E+2"), .decimal("-0"), .decimal("0.0"),
                .decimal("123456789012345678901234567890.12345678901234567890"), .decimal("1e400"),
                .decimal("0.1000000000000000055511151231257827"), .decimal("9007199254740993"),
            ],
            "Writes decimals with zeros at the end, exponents, and more digits than a number holds: every character stays"
        ),
        (
            "text-any-scalar", "Any Unicode scalar is allowed, U+0000 included.", "FieldValue", "text",
            [
                "\0", "a\0b", "\0\0", "\u{FEFF}x", "\u{10FFFF}", "😀👨‍👩‍👧", "日本語", "ß", "\u{202E}abc", "\r\n\t",
                "\u{FFFF}", "\u{7F}",
            ], "Writes text with U+0000 in it, emoji, line ends, control and private characters"
        ),
        (
            "text-not-normalised", "a composed and a decomposed accent differ here", "FieldValue", "text",
            ["\u{E9}", "e\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}", "\u{1E9B}\u{323}", "\u{FB01}"],
            "Writes accents and ligatures in several forms: none becomes another"
        ),
        (
            "text-not-interpreted", "Every value comes back as it went in", "SyncContextDataSource", "text",
            [
                "1", "007", "1.0", "1e3", "true", "null", "NULL", " a ", "a ", "'", "''", "\"", "\\", "\\n", "%", "_",
                "?1",
                ":x", "; DROP TABLE items; --", "0x10", "2020-01-01T00:00:00Z", "{\"a\":1}",
            ],
            "Writes text that looks like a number, a date, null, JSON or SQL, and spaces around text: it stays that text"
        ),
        (
            "text-empty", "Empty text is not null.", "FieldValue", "text", [""], "Writes the empty text"
        ),
        (
            "text-large", "Every value comes back as it went in", "SyncContextDataSource", "text",
            [65_535, 65_536, 65_537].map { .string(String(repeating: "x", count: $0)) }
                + [.string(String(repeating: "é0123456789", count: 350_000))],
            "Writes texts of 64 KB, of a byte less and more, and of four megabytes"
        ),
        (
            "date-milliseconds", "An instant in whole milliseconds.", "FieldValue", "date",
            [
                .date(0), .date(1), .date(999), .date(-1), .date(1_700_000_000_123), .date(253_402_300_799_999),
                .date(-62_135_596_800_000), .date(.max), .date(.min),
            ], "Writes dates with odd milliseconds, before 1970, in the years 1 and 9999, and at both ends of 64 bits"
        ),
        (
            "date-finer-text",
            "The text of such an instant is kept beside the milliseconds, so that sending the value back does"
                + " not cut it.",
            "Timestamp", "date",
            [
                .date(text: "2024-02-29T12:34:56.1234567Z"), .date(text: "2024-02-29T12:34:56.123000001+02:00"),
                .date(text: "1969-12-31T23:59:59.9999999Z"),
            ],
            "Writes dates finer than milliseconds, in UTC and in another zone: every digit stays, whatever zone they come back in"
        ),
        (
            "bytes", "Every value comes back as it went in", "SyncContextDataSource", "bytes",
            [
                .bytes(Array(0...255)), .bytes([0]), .bytes([0, 0, 0]), .bytes([255, 254, 0, 1]),
                .bytes(Array("text".utf8)),
            ], "Writes bytes of every value, zeros at the start and the end among them, and those of a text"
        ),
        (
            "bytes-empty", "Empty bytes are not null.", "FieldValue", "bytes", [.bytes([])], "Writes no bytes"
        ),
        (
            "bytes-large", "Every value comes back as it went in", "SyncContextDataSource", "bytes",
            [65_535, 65_536, 65_537, 1_048_577, 4_194_305]
                .map { .bytes((0..<$0).map { UInt8(truncatingIfNeeded: $0 &* 31) }) },
            "Writes one more byte than 64 KB, than a mebibyte, and than four of them"
        ),
        (
            "json-verbatim", "Nested JSON, kept verbatim.", "FieldValue", "json",
            [
                .json("{ \"b\" : 1,\n \"a\":[1.0, 1.00,1e2] , \"b\":null}"), .json("[]"), .json("null"), .json("\"x\""),
                .json("12345678901234567890.10"), .json("{\"\\u00e9\":\"\\u0000\"}"), .json(" true "),
                .json("[\"\\ud83d\\ude00\", \"\\uD83D\\uDE00\", \"😀\"]"),
            ], "Writes JSON with spaces, long numbers, escapes and repeated zeros: every character stays"
        ),
        (
            "json-large", "Nested JSON, kept verbatim.", "FieldValue", "json",
            [65_535, 65_536, 65_537, 1_100_000]
                .map { .json("[\"" + String(repeating: "x", count: $0 - 4) + "\"]") },
            "Writes JSON of 64 KB, of a byte less and more, and of a megabyte"
        ),
        (
            "decimal-long", "A decimal number, kept as the text it came in.", "FieldValue", "decimal",
            [
                .decimal(String(repeating: "1234567890", count: 25) + ".5"),
                .decimal("-0." + String(repeating: "1234567890", count: 700) + "7"),
            ], "Writes decimals of 250 and of 7,000 digits"
        ),
    ]

    private static let otherValues: [StoreRule] = [
        rule(
            "values.null",
            "Writing it clears a column; an absent key leaves the column as it is.",
            in: "FieldValue",
            "Writes null into a column of every type and reads it back as null."
        ) { trial in
            let store = try await trial.makeStore()
            var record = Record(id: "null")
            for column in TableDefinition.items.allColumns { record[column.name] = .null }
            try await trial.expectStored([record], in: .items, store)
        },
        rule(
            "values.negative-zero",
            "It comes back bit for bit, but for the sign of zero.",
            in: "FieldValue",
            "Writes 0.0 and -0.0 into a double column: a zero comes back, whatever its sign."
        ) { trial in
            let store = try await trial.makeStore()
            let rows = [Record(id: "0", ["double": 0.0]), Record(id: "1", ["double": -0.0])]
            try await trial.expectStored(rows, in: .items, store)
        },
        rule(
            "values.double-nan-refused",
            "A NaN is refused by every store",
            in: "FieldValue",
            "Writes a NaN into a double column, expects the error invalidRecord, and looks whether a row was left."
        ) { trial in
            let store = try await trial.makeStore()
            try await trial.expectError(.invalidRecord, from: "upsert a NaN into the double column") {
                try await store.upsert([Record(id: "nan", ["double": .double(.nan)])], table: "items")
            }
            trial.expectRow(try await store.read(table: "items", itemID: "nan"), nil, "read the refused row")
        },
        rule(
            "values.double-takes-whole-numbers",
            "a whole number is taken as well, when a double holds it exactly.",
            in: "ColumnType",
            "Writes whole numbers into a double column; those a double cannot hold must be refused."
        ) { trial in
            let store = try await trial.makeStore()
            for number: Int64 in [0, -7, 1 << 53, 1 << 60, .min] {
                let record = Record(id: .string("\(number)"), ["double": .int64(number)])
                let expected = TableDefinition.items.filled(
                    Record(id: record.id, ["double": .double(Double(number))])
                )
                try await trial.expectStored([record], [expected], in: .items, store)
            }
            for number: Int64 in [1 << 53 + 1, .max] {
                try await trial.expectError(.invalidRecord, from: "upsert int64 \(number) into the double column") {
                    try await store.upsert([Record(id: "x", ["double": .int64(number)])], table: "items")
                }
            }
        },
        rule(
            "values.decimal-takes-whole-numbers",
            "a whole number is taken as well.",
            in: "ColumnType",
            "Writes whole numbers into a decimal column; they come back as decimal text."
        ) { trial in
            let store = try await trial.makeStore()
            for number: Int64 in [0, -7, .max, .min] {
                let record = Record(id: .string("\(number)"), ["decimal": .int64(number)])
                let expected = TableDefinition.items.filled(
                    Record(id: record.id, ["decimal": .decimal(DecimalText(number))])
                )
                try await trial.expectStored([record], [expected], in: .items, store)
            }
        },
        rule(
            "values.wrong-type-refused",
            "`invalidRecord` for an id of the wrong kind, a value that `accepting(_:)` refuses",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Writes a value of every type into a column of every other type that does not take it."
        ) { trial in
            let store = try await trial.makeStore()
            let samples: [FieldValue] = [
                true, 5, 0.5, .decimal("0.5"), "text", .date(5), .bytes([5]), .json("5"), "5", "true",
                .string("2020-01-01T00:00:00Z"),
            ]
            for column in TableDefinition.items.columns {
                for sample in samples where column.type.accepting(sample) == .none {
                    let input = "upsert \(shown(sample)) into a column declared as \(column.type.rawValue)"
                    try await trial.expectError(.invalidRecord, from: input) {
                        try await store.upsert([Record(id: "x", [column.name: sample])], table: "items")
                    }
                    trial.expectRow(try await store.read(table: "items", itemID: "x"), nil, input + ", read the row")
                }
            }
        },
        rule(
            "values.system-properties",
            "The columns a server keeps for every row.",
            in: "SystemProperties",
            "Writes createdAt, updatedAt, version and deleted, false and true, and reads them back."
        ) { trial in
            let store = try await trial.makeStore()
            let record = Record(
                id: "a",
                [
                    "createdAt": .date(1_600_000_000_001), "updatedAt": .date(text: "2024-02-29T12:34:56.7654321Z"),
                    "version": "AAAAAAAAB9E=", "deleted": true,
                ]
            )
            try await trial.expectStored([record, Record(id: "b", ["deleted": false])], in: .items, store)
        },
        rule(
            "values.date-replaced-finer-text",
            "The text of such an instant is kept beside the milliseconds, so that sending the value back does"
                + " not cut it.",
            in: "Timestamp",
            "Overwrites a finer date with a whole one of the same millisecond, under an undeclared key too where the store keeps"
                + " those: the old text must be gone."
        ) { trial in
            let store = try await trial.makeStore()
            let finer = FieldValue.date(text: "2024-02-29T12:34:56.7891234Z")
            let whole = FieldValue.date(finer.dateValue?.milliseconds ?? 0)
            let names = store.capabilities.contains(.unknownColumns) ? ["date", "undeclared"] : ["date"]
            for name in names {
                for value in [finer, whole, finer, .null] {
                    try await trial.expectStored([Record(id: .string(name), [name: value])], in: .items, store)
                }
            }
        },
        rule(
            "values.random",
            "Every value comes back as it went in",
            in: "SyncContextDataSource",
            "Writes 300 random rows with values of every type, many of them awkward, and reads all back."
        ) { trial in
            let store = try await trial.makeStore()
            var random = RandomRows(trial.random())
            let records = (0..<300).map { random.record(.string("id\($0)")) }
            try await trial.expectStored(records, in: .items, store)
        },
    ]
}
