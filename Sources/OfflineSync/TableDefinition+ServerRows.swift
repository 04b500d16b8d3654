internal import SyncContract

extension TableDefinition {
    /// Whether the server's row says in the declared columns what the local row says.
    ///
    /// With `defaultsCountAsNull` a local null also equals what servers may make of a column that is left out: the default of
    /// its type. With `shownColumns`, those that rows of the server have shown, another one that is absent from the server's
    /// row says nothing; otherwise every absent column counts as null. In `caselessColumns` the case of letters says nothing.
    func hasSameContent(
        _ local: Record,
        _ server: Record,
        defaultsCountAsNull: Bool,
        shownColumns: Set<String>? = nil,
        caselessColumns: Set<String> = []
    ) -> Bool {
        columns.allSatisfy { column in
            guard !column.isLocal else { return true }
            let name = column.name
            guard let theirs = server[name] else {
                return local[name]?.isNull ?? true || shownColumns.map { !$0.contains(name) } ?? false
            }
            let mine = local[name] ?? .null
            if mine.isNull, !theirs.isNull {
                return defaultsCountAsNull && theirs.isDefaultOfServers
            }
            if caselessColumns.contains(name), let mine = mine.stringValue, let theirs = theirs.stringValue {
                return RecordID.string(mine).folded(for: .asciiCaseInsensitive)
                    == RecordID.string(theirs).folded(for: .asciiCaseInsensitive)
            }
            return mine.hasSameContent(as: theirs)
        }
    }

    /// The columns that name rows of tables whose ids do not tell the case of letters: another spelling names the same row.
    func caselessColumns(_ schema: StoreSchema) -> Set<String> {
        let named = columns.lazy.filter { column in
            column.references.flatMap(schema.table)?.idComparison == .asciiCaseInsensitive
        }
        return Set(named.map(\.name))
    }
}

extension FieldValue {
    /// Whether a column that refers to rows names one by this: what servers of .NET keep in the place of a null does not.
    var namesRow: Bool { stringValue.map { !$0.isEmpty && !$0.isZeroUUID } ?? false }

    /// Whether this is what a server of .NET keeps in a column that takes no null when it is sent none: the default of the
    /// column's type, a day, a time and a UUID among them, which are text here.
    fileprivate var isDefaultOfServers: Bool {
        switch self {
        case .null: false
        case .bool(let value): !value
        case .int64, .double, .decimal: compare(with: 0) == 0
        case .string(let text): text.isEmpty || text == "0001-01-01" || text.isMidnight || text.isZeroUUID
        case .date(let date): date.milliseconds == Timestamp.wireMilliseconds.lowerBound
        case .bytes(let bytes): bytes.isEmpty
        case .json(let json): json.text == "{}" || json.text == "[]"
        }
    }
}

extension String {
    /// `00:00:00`, with any number of zeros for the fraction.
    fileprivate var isMidnight: Bool {
        hasPrefix("00:00:00") && utf8.dropFirst(8).allSatisfy { [UInt8(ascii: "."), UInt8(ascii: "0")].contains($0) }
    }

    fileprivate var isZeroUUID: Bool { self == "00000000-0000-0000-0000-000000000000" }
}
