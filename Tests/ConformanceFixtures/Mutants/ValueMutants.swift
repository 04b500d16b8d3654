import Foundation
import ReferenceStore
import SyncContract

extension Mutant {
    static let values: [Mutant] = [
        Mutant("values.bool", "gives truth values back as numbers") {
            $0.handingOut { if case .bool(let value) = $0 { .int64(value ? 1 : 0) } else { $0 } }
        },
        Mutant("values.int64", "sends whole numbers through a double") {
            $0.changing { value in
                guard case .int64(let number) = value else { return value }
                return .int64(Int64(exactly: Double(number)) ?? Int64(Double(number).nextDown))
            }
        },
        Mutant("values.double", "sends doubles through text of 15 digits") {
            $0.changing { value in
                guard case .double(let number) = value, number.isFinite else { return value }
                return .double(Double(String(format: "%.15g", number)) ?? number)
            }
        },
        Mutant("values.double", "keeps doubles in single precision") {
            $0.changing { if case .double(let number) = $0 { .double(Double(Float(number))) } else { $0 } }
        },
        Mutant("values.double-infinity", "turns infinities into nulls") {
            $0.changing { if case .double(let number) = $0, number.isInfinite { .null } else { $0 } }
        },
        Mutant("values.negative-zero", "keeps -0.0 as null") {
            $0.changing { if case .double(let number) = $0, number.sign == .minus, number == 0 { .null } else { $0 } }
        },
        Mutant("values.double-nan-refused", "keeps a NaN as null") {
            $0.changing { if case .double(let number) = $0, number.isNaN { .null } else { $0 } }
        },
        Mutant("values.double-takes-whole-numbers", "refuses whole numbers in double columns") { faults in
            faults.upsert = { records, table, inner in
                for record in records {
                    if case .int64 = record["double"] { throw StoreError(.invalidRecord, "not a double") }
                }
                try inner.upsert(records, into: table)
            }
        },
        Mutant("values.double-takes-whole-numbers", "rounds whole numbers to doubles") { faults in
            faults.upsert = { records, table, inner in
                let rounded = records.map { record in
                    var record = record
                    if case .int64(let number) = record["double"] { record["double"] = .double(Double(number)) }
                    return record
                }
                try inner.upsert(rounded, into: table)
            }
        },
        Mutant("values.decimal-text", "writes decimals in their shortest form") {
            $0.changing { value in
                guard case .decimal(let decimal) = value, let number = Double(decimal.text), number.isFinite else {
                    return value
                }
                return DecimalText(shortestOf: number).map(FieldValue.decimal) ?? value
            }
        },
        Mutant("values.decimal-takes-whole-numbers", "refuses whole numbers in decimal columns") { faults in
            faults.upsert = { records, table, inner in
                for record in records {
                    if case .int64 = record["decimal"] { throw StoreError(.invalidRecord, "not a decimal") }
                }
                try inner.upsert(records, into: table)
            }
        },
        Mutant("values.text-any-scalar", "cuts text at a U+0000") {
            $0.changing { value in
                guard case .string(let text) = value else { return value }
                return .string(String(decoding: text.utf8.prefix { $0 != 0 }, as: UTF8.self))
            }
        },
        Mutant("values.text-not-normalised", "normalises text") {
            $0.changing {
                if case .string(let text) = $0 { .string(text.precomposedStringWithCanonicalMapping) } else { $0 }
            }
        },
        Mutant("values.text-not-interpreted", "trims text") {
            $0.changing {
                if case .string(let text) = $0, text.last == " " { .string(String(text.dropLast())) } else { $0 }
            }
        },
        Mutant("values.text-empty", "takes empty text for null") {
            $0.changing { if case .string("") = $0 { .null } else { $0 } }
        },
        Mutant("values.text-large", "cuts text at 65,535 bytes") {
            $0.changing {
                if case .string(let text) = $0 {
                    .string(String(decoding: text.utf8.prefix(65_535), as: UTF8.self))
                } else {
                    $0
                }
            }
        },
        Mutant("values.date-milliseconds", "cuts dates to seconds") {
            $0.changing { value in
                guard case .date(let date) = value else { return value }
                return .date(Timestamp(milliseconds: date.milliseconds / 1_000 * 1_000))
            }
        },
        Mutant("values.date-finer-text", "forgets what is finer than milliseconds") {
            $0.changing {
                if case .date(let date) = $0 { .date(Timestamp(milliseconds: date.milliseconds)) } else { $0 }
            }
        },
        Mutant("values.date-replaced-finer-text", "keeps the finer text of a date that was overwritten") { faults in
            faults.upsert = { records, table, inner in
                let kept = try records.map { record in
                    var record = record
                    if case .date(let new) = record["date"],
                        case .date(let old) = try inner.record(record.id, in: table)?["date"],
                        old.milliseconds == new.milliseconds, old.finerText != nil
                    {
                        record["date"] = .date(old)
                    }
                    return record
                }
                try inner.upsert(kept, into: table)
            }
        },
        Mutant("values.bytes-empty", "takes empty bytes for null") {
            $0.changing { if case .bytes([]) = $0 { .null } else { $0 } }
        },
        Mutant("values.bytes", "ends bytes at a zero") {
            $0.changing { if case .bytes(let bytes) = $0 { .bytes(Array(bytes.prefix { $0 != 0 })) } else { $0 } }
        },
        Mutant("values.bytes-large", "keeps a mebibyte at most") {
            $0.changing { if case .bytes(let bytes) = $0 { .bytes(Array(bytes.prefix(1_048_576))) } else { $0 } }
        },
        Mutant("values.json-verbatim", "tidies JSON") {
            $0.changing {
                if case .json(let json) = $0 {
                    JSONText(json.text.replacingOccurrences(of: " ", with: "")).map(FieldValue.json) ?? $0
                } else {
                    $0
                }
            }
        },
        Mutant("values.wrong-type-refused", "takes text with a number for the number") { faults in
            faults.upsert = { records, table, inner in
                let read = records.map { record in
                    var record = record
                    if case .string(let text) = record["int"], let number = Int64(text) {
                        record["int"] = .int64(number)
                    }
                    return record
                }
                try inner.upsert(read, into: table)
            }
        },
        Mutant("values.system-properties", "does not keep 'deleted'") { faults in
            faults.upsert = { records, table, inner in
                let reduced = records.map { record in
                    var record = record
                    record["deleted"] = nil
                    return record
                }
                try inner.upsert(reduced, into: table)
            }
        },
        Mutant("values.null", "gives nulls back as absent keys") {
            $0.record = { id, table, inner in
                guard let row = try inner.record(id, in: table) else { return nil }
                return Record(id: row.id, row.fields.filter { !$0.value.isNull })
            }
        },
    ]
}
