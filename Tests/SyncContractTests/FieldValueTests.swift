import SyncContract
import Testing

@Suite("Field values, ids and records")
struct FieldValueTests {
    /// Values that all differ from each other.
    private static let distinct: [FieldValue] = [
        .null, .bool(false), .bool(true), .int64(0), .int64(1), .double(0), .double(1), .double(.nan),
        .double(.infinity), .decimal(DecimalText("1")!), .decimal(DecimalText("1.0")!), .string(""), .string("1"),
        .string("caf\u{E9}"), .string("cafe\u{301}"), .string("a\0"), .date(Timestamp(milliseconds: 1)),
        .date(Timestamp("1970-01-01T00:00:00.0011Z")!), .bytes([]), .bytes([1]), .json(JSONText("1")!),
        .json(JSONText("1.0")!), .json(JSONText("\"\u{E9}\"")!), .json(JSONText("\"e\u{301}\"")!),
    ]

    @Test("are equal to themselves and to nothing else, hash accordingly")
    func equality() {
        for (i, a) in Self.distinct.enumerated() {
            for (j, b) in Self.distinct.enumerated() { #expect((a == b) == (i == j), "\(a) and \(b)") }
        }
        #expect(Set(Self.distinct + Self.distinct).count == Self.distinct.count)
    }

    @Test("with zeros of both signs are equal")
    func zeros() {
        #expect(FieldValue.double(0) == .double(-0.0))
        #expect(Set([FieldValue.double(0), .double(-0.0)]).count == 1)
        #expect(Set([FieldValue.double(.nan), .double(-.nan), .double(.signalingNaN)]).count == 1)
    }

    @Test("read as the one case they are")
    func accessors() {
        let value: FieldValue = "text"
        #expect(value.stringValue == "text")
        #expect(value.int64Value == nil)
        #expect(FieldValue(integerLiteral: 3).doubleValue == nil)
        #expect(FieldValue.null.isNull)
        #expect((true as FieldValue).boolValue == true)
        #expect((1.5 as FieldValue).doubleValue == 1.5)
    }

    @Test("ids are told apart by their bytes, or by them without ASCII case")
    func ids() {
        #expect(RecordID.string("caf\u{E9}") != .string("cafe\u{301}"))
        #expect(RecordID.string("1") != .int64(1))
        #expect(RecordID.string("Ab\u{C9}").folded(for: .asciiCaseInsensitive) == .string("ab\u{C9}"))
        #expect(RecordID.string("Ab").folded(for: .exact) == .string("Ab"))
        #expect(RecordID.int64(7).folded(for: .asciiCaseInsensitive) == .int64(7))
    }

    @Test("records tell absent from null, and keep the id apart")
    func records() {
        var record = Record(id: "a", ["id": "other", "text": "x", "none": .null])
        #expect(record["id"] == "a")
        #expect(record["none"] == .some(.null))
        #expect(record["missing"] == nil)
        record["id"] = "b"
        #expect(record.id == "a")
        record["text"] = nil as FieldValue?
        #expect(Set(record.names) == ["none"])
        record.merge(Record(id: "z", ["text": "y"]))
        #expect(record == Record(id: "a", ["text": "y", "none": .null]))
        #expect(record.selecting(["text", "missing"]) == Record(id: "a", ["text": "y"]))
    }

    @Test("system properties are read by their types and can be taken off")
    func systemProperties() {
        let record = Record(
            id: "a",
            [
                "version": "v", "deleted": true, "updatedAt": .date(Timestamp(milliseconds: 5)), "createdAt": .null,
                "text": "x",
            ]
        )
        #expect(record.version == "v")
        #expect(record.isDeleted)
        #expect(record.updatedAt?.milliseconds == 5)
        #expect(record.withoutSystemProperties() == Record(id: "a", ["text": "x"]))
        #expect(!Record(id: "a", ["deleted": "true"]).isDeleted)
    }
}
