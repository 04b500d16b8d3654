import SyncContract
import Testing

@Suite("Records")
struct RecordTests {
    @Test("are equal, and hash alike, however their values came to be there")
    func equality() {
        let whole = Record(id: "1", ["a": 1, "b": "x", "c": .null])
        var built = Record(id: "1")
        for (name, value) in [("c", FieldValue.null), ("z", 9), ("b", "x"), ("a", 2)] { built[name] = value }
        #expect(built != whole)
        built["a"] = 1
        built["z"] = nil
        #expect(built == whole && whole == built)
        #expect(built.hashValue == whole.hashValue)
        #expect(built.fields == whole.fields)
        #expect(Set(built.names) == ["a", "b", "c"])

        var other = whole
        other["c"] = nil
        #expect(other != whole && whole != other)
        other["d"] = .null
        #expect(other != whole && whole != other)
        #expect(Record(id: "2", whole.fields) != whole)
    }

    @Test("a table tells its ids apart as it declares")
    func ids() {
        let exact = TableDefinition("t", columns: [])
        let ignoringCase = TableDefinition("t", columns: [], idComparison: .asciiCaseInsensitive)
        #expect(exact.isSameID("aB", "aB") && !exact.isSameID("aB", "Ab") && !exact.isSameID("1", .int64(1)))
        #expect(ignoringCase.isSameID("aB", "Ab") && !ignoringCase.isSameID("\u{C9}", "\u{E9}"))
    }

    @Test("have ids that are told as what they are")
    func toldIDs() {
        #expect("\(RecordID.string("a b"))" == "a b" && "\(RecordID.int64(-7))" == "-7")
    }

    @Test("tell an absent key from a null, and keep the id out of the values")
    func absence() {
        var record = Record(id: "1", ["id": "other", "a": .null])
        #expect(record["id"] == "1")
        #expect(record["a"] == .null && record["b"] == nil)
        record["id"] = "other"
        #expect(record["id"] == "1" && record.fields == ["a": .null])
        record["a"] = nil
        #expect(record["a"] == nil && record.fields.isEmpty && record.names.isEmpty)
        record["a"] = 5
        #expect(record.fields == ["a": 5])
    }

    @Test("merge and select by name")
    func merging() {
        var record = Record(id: "1", ["a": 1, "b": 2])
        var patch = Record(id: "1", ["b": .null, "c": 3, "d": 4])
        patch["d"] = nil
        record.merge(patch)
        #expect(record == Record(id: "1", ["a": 1, "b": .null, "c": 3]))
        #expect(record.selecting(["a", "id", "d"]) == Record(id: "1", ["a": 1]))
    }

    @Test("find a value among very many names", arguments: [31, 32, 33, 500])
    func manyNames(_ count: Int) {
        var record = Record(id: "1")
        for index in 0..<count { record["n\(index)"] = .int64(Int64(index)) }
        for index in 0..<count { record["n\(index)"] = .int64(Int64(-index)) }
        let copy = record
        record["n7"] = nil
        #expect((0..<count).allSatisfy { copy["n\($0)"] == .int64(Int64(-$0)) })
        #expect(record["n7"] == nil && record.names.count == count - 1 && copy.names.count == count)
        #expect(copy == Record(id: "1", copy.fields))
    }
}
