import Foundation
import SyncContract

/// Rows out of parsed JSON, value by value, as the decoder's documentation says: what the decoder is held against. It looks
/// every column up by its name and makes a text of every value first.
struct ReferenceDecoding {
    let table: TableDefinition
    let readsTombstones: Bool

    /// What a row is.
    struct Row: Equatable {
        var id: RecordID?
        var stamp: Timestamp?
        var record: Record?
        /// Why it is no record.
        var problem: String?
    }

    func row(_ node: JSONNode) -> Row {
        guard case .object(let members, _) = node else { return Row(problem: "the item is not a JSON object") }
        var row = Row(id: id(node["id"]))
        if case .date(let stamp)? = node["updatedAt"].flatMap({ value($0, .date) }) { row.stamp = stamp }
        guard let id = row.id, id.stringValue != "" else {
            row.problem = "the item has no usable 'id'"
            return row
        }
        let whole = record(id, members)
        (row.record, row.problem) = (whole.record, whole.problem)
        if row.problem != nil, readsTombstones, node["deleted"]?.isTrue == true {
            let kept = record(id, members.filter { SystemProperties.names.contains($0.name) })
            (row.record, row.problem) = (kept.record, kept.problem)
        }
        return row
    }

    private func id(_ node: JSONNode?) -> RecordID? {
        switch (table.idKind, node) {
        case (.string, .string(let text)?): .string(text)
        case (.int64, .number(let text)?): Int64(text).map(RecordID.int64)
        default: nil
        }
    }

    private func record(
        _ id: RecordID,
        _ members: [(name: String, value: JSONNode)]
    ) -> (record: Record?, problem: String?) {
        var record = Record(id: id)
        for (name, node) in members where name != "id" {
            let system = SystemProperties(rawValue: 15).columns.first { $0.name == name }?.type
            guard let value = value(node, table.type(of: name) ?? system) else { return (nil, name) }
            record[name] = value
        }
        return (record, nil)
    }

    private func value(_ node: JSONNode, _ type: ColumnType?) -> FieldValue? {
        switch (type, node) {
        case (_, .null): .null
        case (.bool, .bool(let value)), (nil, .bool(let value)): .bool(value)
        case (.string, .string(let text)), (nil, .string(let text)): .string(text)
        case (.int64, .number(let text)), (.int64, .string(let text)): wholeNumber(text)
        case (.double, .number(let text)), (.double, .string(let text)):
            Double(text).flatMap { $0.isFinite ? .double($0) : .none }
        case (.decimal, .number(let text)), (.decimal, .string(let text)): DecimalText(text).map(FieldValue.decimal)
        case (.date, .string(let text)): (Timestamp(text) ?? Timestamp(text + "Z")).map(FieldValue.date)
        case (.bytes, .string(let text)): Data(base64Encoded: text).map { .bytes(Array($0)) }
        case (.json, _): JSONText(node.text).map(FieldValue.json)
        case (nil, .array), (nil, .object): JSONText(node.text).map(FieldValue.json)
        case (nil, .number(let text)): undeclaredNumber(text)
        default: nil
        }
    }

    private func wholeNumber(_ text: String) -> FieldValue? {
        if let number = Int64(text) { return .int64(number) }
        guard let decimal = DecimalText(text), let number = Double(text).flatMap(Int64.init(exactly:)),
            DecimalText(number).isNumericallyEqual(to: decimal)
        else { return nil }
        return .int64(number)
    }

    private func undeclaredNumber(_ text: String) -> FieldValue? {
        if let number = Int64(text), String(number) == text { return .int64(number) }
        if let number = Double(text), number.description == text { return .double(number) }
        return DecimalText(text).map(FieldValue.decimal)
    }
}
