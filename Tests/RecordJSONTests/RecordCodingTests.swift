import RecordJSON
import SyncContract
import Testing

@Suite("Records as JSON")
struct RecordCodingTests {
    private static let table = TableDefinition(
        "things",
        columns: ColumnType.allCases.map { ColumnDefinition($0.rawValue, $0) }
    )

    private func record(_ json: String, in table: TableDefinition = table) throws -> Record {
        try RecordCoding(table).record(try JSONNode(parsing: json.utf8))
    }

    @Test(
        "values of every type come back as they were",
        arguments: [
            ("bool", .bool(true)), ("bool", .bool(false)), ("int64", .int64(.max)), ("int64", .int64(.min)),
            ("int64", .int64(0)), ("double", .double(0.1)), ("double", .double(-1e300)),
            ("double", .double(.leastNonzeroMagnitude)),
            ("double", .double(3)), ("decimal", .decimal(DecimalText("1.10")!)),
            ("decimal", .decimal(DecimalText("123456789012345678901234567890.5")!)), ("string", .string("")),
            ("string", .string("O'Brien \"é\" 日本 😀 \\ \n \u{0}")), ("string", .string("2024-01-01T00:00:00Z")),
            ("date", .date(Timestamp(milliseconds: -1))), ("date", .date(Timestamp("2024-02-29T00:00:00.1234567Z")!)),
            ("bytes", .bytes([])), ("bytes", .bytes([0, 255, 1])), ("json", .json(JSONText(#"{"a":[1,null]}"#)!)),
            ("json", .json(JSONText("\"text\"")!)), ("undeclared", .bool(true)), ("undeclared", .int64(7)),
            ("undeclared", .double(0.5)), ("undeclared", .string("2024-01-01T00:00:00Z")),
            ("undeclared", .decimal(DecimalText("1.10")!)), ("undeclared", .json(JSONText("[1, 2]")!)),
            ("undeclared", .null), ("json", .null), ("date", .null),
        ] as [(String, FieldValue)]
    )
    func roundTrip(_ column: String, _ value: FieldValue) throws {
        let original = Record(id: "a1", [column: value])
        let json = try RecordCoding.object(original)
        #expect(try record(json) == original)
    }

    @Test("a text that is kept as JSON becomes a record, and the record that text again")
    func text() throws {
        let text = try #require(JSONText(#"{"id":"a","double":0.5,"other":1.10,"string":null}"#))
        let coding = RecordCoding(Self.table)
        let record = try coding.record(from: text)
        #expect(record == Record(id: "a", ["double": 0.5, "other": .decimal(DecimalText("1.10")!), "string": .null]))
        #expect(try coding.json(of: record) == text)
        #expect(try coding.json(of: record, includingNulls: false).text == #"{"id":"a","double":0.5,"other":1.10}"#)
        for refused in [
            "[]", #"{"double":1}"#, #"{"id":7}"#, #"{"id":"a","double":"x"}"#, #"{"id":"a","double":"0x10"}"#,
        ] {
            #expect(throws: RecordCodingError.self) { try coding.record(from: #require(JSONText(refused))) }
        }
        // A store that keeps such texts may have been damaged since they were validated.
        #expect(throws: RecordCodingError.self) { try coding.record(from: JSONText(validated: "{")) }
    }

    @Test(
        "numbers of undeclared columns are written exactly as they came",
        arguments: [
            "0", "-0", "1.0", "1.10", "1e5", "1E+5", "1e-07", "9007199254740993", "12345678901234567890", "0.1",
        ]
    )
    func undeclaredNumbers(_ number: String) throws {
        let json = #"{"id":"a","x":\#(number)}"#
        #expect(try RecordCoding.object(try record(json)) == json)
    }

    @Test(
        "what a server may write differently is understood",
        arguments: [
            (#"{"int64":"42"}"#, .int64(42)), (#"{"int64":4.2e1}"#, .int64(42)), (#"{"int64":42.0}"#, .int64(42)),
            (#"{"double":1}"#, .double(1)), (#"{"double":"0.5"}"#, .double(0.5)),
            (#"{"decimal":"1.10"}"#, .decimal(DecimalText("1.10")!)),
            (#"{"date":"2024-01-01T01:00:00+01:00"}"#, .date(Timestamp("2024-01-01T00:00:00Z")!)),
            (#"{"json":{"a": 1 }}"#, .json(JSONText(#"{"a": 1 }"#)!)), (#"{"bytes":"\/w=="}"#, .bytes([255])),
        ] as [(String, FieldValue)]
    )
    func leniency(_ json: String, _ value: FieldValue) throws {
        let record = try record(json.replacing("{", with: #"{"id":"a","#, maxReplacements: 1))
        #expect(Array(record.fields.values) == [value])
    }

    @Test(
        "what does not fit a declared column is refused by the column's name, without the value",
        arguments: [
            #""bool":1"#, #""bool":"true""#, #""int64":1.5"#, #""int64":9223372036854775808"#,
            #""int64":9007199254740993.5"#, #""int64":"x""#, #""int64":true"#, #""double":"nan""#, #""double":1e999"#,
            #""double":[1]"#, #""decimal":"1,5""#, #""decimal":"""#, #""string":7"#, #""string":{}"#,
            #""date":"yesterday""#, #""date":0"#, #""bytes":"%%""#, #""bytes":[1]"#, #""updatedAt":"secret""#,
            #""deleted":"no""#, #""version":5"#,
        ]
    )
    func misfits(_ member: String) throws {
        do {
            _ = try record("{\"id\":\"a\",\(member)}")
            Issue.record("\(member) fits")
        } catch let error as RecordCodingError {
            let parts = member.split(separator: ":", maxSplits: 1)
            #expect(error.message.contains("'\(parts[0].dropFirst().dropLast())'"))
            #expect(!error.message.contains("secret"))
        }
    }

    @Test("a whole number beyond what a double holds is exact or refused")
    func wideNumbers() throws {
        #expect(try record(#"{"id":"a","int64":9007199254740993}"#)["int64"] == .int64(9_007_199_254_740_993))
        #expect(throws: RecordCodingError.self) { try record(#"{"id":"a","int64":9007199254740993.0}"#) }
    }

    @Test("an id is text and not empty", arguments: ["{}", "[]", "7", #"{"id":""}"#, #"{"id":7}"#, #"{"id":null}"#])
    func ids(_ json: String) {
        #expect(throws: RecordCodingError.self) { try record(json) }
    }

    @Test("system properties have their types in every table, kept or not")
    func systemProperties() throws {
        let bare = TableDefinition("bare", columns: [], systemProperties: [])
        let record = try record(
            #"{"id":"a","deleted":true,"version":"v","updatedAt":"2024-01-01T00:00:00Z","createdAt":null}"#,
            in: bare
        )
        #expect(record.isDeleted)
        #expect(record.version == "v")
        #expect(record.updatedAt == Timestamp("2024-01-01T00:00:00Z"))
        #expect(record["createdAt"] == .some(.null))
    }

    @Test("the id comes first, the rest by name, and nulls can be left out")
    func writing() throws {
        let record = Record(id: "a\"1", ["b": .null, "c": 1, "a": "x"])
        #expect(try RecordCoding.object(record) == #"{"id":"a\"1","a":"x","b":null,"c":1}"#)
        #expect(try RecordCoding.object(record, includingNulls: false) == #"{"id":"a\"1","a":"x","c":1}"#)
    }

    @Test("few members and many are in the order of their names", arguments: [2, 9, 24, 25, 60])
    func order(_ count: Int) throws {
        let names = (0..<count).map { "c\($0)" }
        // Neither in order nor the other way round, which it is as text.
        let fields = (names.dropFirst() + names.prefix(1)).map { ($0, 1 as FieldValue?) }
        let record = Record(id: "a", names: fields.map(\.0), values: fields.map(\.1))
        let members = names.sorted().map { #""\#($0)":1"# }
        #expect(try RecordCoding.object(record) == #"{"id":"a",\#(members.joined(separator: ","))}"#)
    }

    @Test("objects and lists of them are written within another one")
    func nested() throws {
        var json = JSONWriter()
        json.add("none", objects: [Int]()) { number, json in json.add("n", Int64(number)) }
        json.add("two", objects: [1, 2]) { number, json in
            json.add("n", Int64(number))
            json.add("t", "{[")
        }
        json.add("empty") { _ in }
        json.add("one") { json in json.add("a", true) }
        json.add("last", 3)
        let expected = #"{"none":[],"two":[{"n":1,"t":"{["},{"n":2,"t":"{["}],"empty":{},"one":{"a":true},"last":3}"#
        #expect(json.object == expected)
    }

    @Test(
        "numbers that are not finite are refused by the column's name",
        arguments: [Double.nan, .infinity, -.infinity]
    )
    func notFinite(_ number: Double) {
        let error = #expect(throws: RecordCodingError.self) {
            try RecordCoding.object(Record(id: "a", ["double": .double(number)]))
        }
        #expect(error?.message.contains("'double'") == true)
    }
}
