import RecordJSON
import SeededNumbers
import SyncContract
import Testing

@Suite("Rows out of JSON in one pass")
struct RecordDecoderTests {
    private static let columns = ColumnType.allCases.map { ColumnDefinition($0.rawValue, $0) }

    private func rows(
        _ json: String,
        _ table: TableDefinition,
        readsTombstones: Bool = false
    ) throws(JSONError) -> [DecodedRow] {
        var reader = JSONReader(Array(json.utf8))
        var decoder = RecordDecoder(RecordCoding(table), readsTombstones: readsTombstones)
        var rows: [DecodedRow] = []
        _ = try reader.kind()
        if try reader.beginArray() {
            repeat { rows.append(try decoder.row(from: &reader)) } while try reader.continuesArray()
        }
        try reader.end()
        return rows
    }

    @Test(
        "random rows are what the plain way makes of them, one after the other with one decoder",
        arguments: [IDKind.string(.exact), .int64],
        [false, true]
    )
    func agreement(_ idKind: IDKind, readsTombstones: Bool) throws {
        let table = TableDefinition("things", idKind: idKind, Self.columns, [.updatedAt, .version])
        let reference = ReferenceDecoding(table: table, readsTombstones: readsTombstones)
        let seed = SeededGenerator.seed()
        var texts = RandomRows(seed: seed)
        for round in 0..<SeededGenerator.rounds(400, all: 20_000) {
            let json = texts.list()
            let found = try rows(json, table, readsTombstones: readsTombstones)
            let expected = try JSONNode(parsing: json.utf8).elements?.map(reference.row) ?? []
            #expect(found.count == expected.count)
            for (row, wanted) in zip(found, expected) {
                let comment: Comment = "seed \(seed), round \(round): \(json)"
                #expect(row.id == wanted.id, comment)
                #expect(row.stamp == wanted.stamp, comment)
                switch row.content {
                case .success(let record): #expect(record == wanted.record, comment)
                case .failure(let error):
                    // The column that does not fit is named, or what the row lacks.
                    #expect(wanted.problem.map { error.message.contains($0) } == true, comment)
                }
            }
        }
    }

    @Test("rows of one list share their names, also when some leave members out or have them in another order")
    func names() throws {
        let table = TableDefinition("t", columns: [.init("a", .string), .init("b", .int64)])
        let json = #"[{"id":"1","a":"x","b":1},{"b":2,"id":"2"},{"id":"3","a":null,"c":true},{"\u0061":"y","id":"4"}]"#
        let records = try rows(json, table).map { try $0.content.get() }
        #expect(
            records == [
                Record(id: "1", ["a": "x", "b": 1]), Record(id: "2", ["b": 2]),
                Record(id: "3", ["a": .null, "c": true]),
                Record(id: "4", ["a": "y"]),
            ]
        )
        #expect(records[0].slotNames == records[1].slotNames)
        #expect(records[2].slotNames == records[3].slotNames)
    }

    @Test("a list whose every row has other members is read, and what is kept of them does not grow for ever")
    func manyNames() throws {
        let table = TableDefinition("t", columns: [])
        let json = (0..<4_000).map { "{\"id\":\"\($0)\",\"n\($0)\":\($0)}" }.joined(separator: ",")
        let records = try rows("[\(json)]", table).map { try $0.content.get() }
        #expect(records.indices.allSatisfy { records[$0].fields == ["n\($0)": .int64(Int64($0))] })
        #expect(records.allSatisfy { $0.slotNames.count < 2_000 })
    }

    @Test("a text that breaks off is no list, however many rows were read of it")
    func brokenOff() {
        let table = TableDefinition("t", columns: [])
        let error = #expect(throws: JSONError.self) { try rows(#"[{"id":"1"},{"id":7},{"id":"2""#, table) }
        #expect(error?.offset == 30)
    }
}

/// Lists of rows with members of every kind, fitting and not; the same ones for a seed.
private struct RandomRows {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private static let names =
        ColumnType.allCases.map(\.rawValue) + [
            "id", "id", "updatedAt", "version", "deleted", "createdAt", "other", "\\u006fther", "b\\u006fol",
            "caf\u{E9}",
            "cafe\u{301}", "", SyncStateTerm.name, "more", "further",
        ]

    private static let values = [
        "null", "true", "false", "0", "-0", "7", "-7", "12345678901234567", "9223372036854775807",
        "9223372036854775808",
        "4.2e1", "42.0", "1.10", "0.5", "1e999", "1E5", #""""#, #""a""#, #""42""#, #""+5""#, #""-0""#, #""0.5""#,
        #""1e3""#,
        #""nan""#, #""caf\u00e9""#, #""\ud83d""#, #""2024-02-29T12:30:00Z""#, #""2024-02-29T12:30:00.1234567Z""#,
        #""2024-02-29T12:30:00.12""#, #""2024-02-29T12:30:00.1234567""#, #""2024-02-29T12:30:00.123\u005a""#,
        #""2023-02-29T12:30:00Z""#, #""2024-01-01T01:00:00+01:00""#, #""/w==""#, #""\/w==""#, #""/w=""#, "[]",
        "[1, {}]",
        #"{"a" : [null]}"#, "{}",
    ]

    mutating func list() -> String {
        "[" + (0..<Int(generator.next() % 5)).map { _ in row() }.joined(separator: ",") + "]"
    }

    private mutating func row() -> String {
        guard generator.next() % 20 > 0 else { return pick(Self.values) }
        var members = (0..<Int(generator.next() % 10)).map { _ in "\"\(pick(Self.names))\" : \(pick(Self.values))" }
        // Most have an id, and some are tombstones.
        if generator.next() % 8 > 0 { members.append(#""id":"# + (generator.next() % 2 == 0 ? #""a1""# : "17")) }
        if generator.next() % 4 == 0 { members.append(#""deleted":true"#) }
        return "{" + members.joined(separator: ",") + "}"
    }

    private mutating func pick(_ texts: [String]) -> String { texts.randomElement(using: &generator) ?? "" }
}
