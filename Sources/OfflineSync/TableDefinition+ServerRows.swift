internal import SyncContract

extension TableDefinition {
    /// Whether the server's row says in the declared columns what the local row says.
    ///
    /// With `defaultsCountAsNull` a local null also equals what servers may make of a column that is left out: false or
    /// 0. With `shownColumns`, those that rows of the server have shown, another one that is absent from the server's
    /// row says nothing; otherwise every absent column counts as null.
    func hasSameContent(
        _ local: Record,
        _ server: Record,
        defaultsCountAsNull: Bool,
        shownColumns: Set<String>? = nil
    ) -> Bool {
        columns.allSatisfy { column in
            guard !column.isLocal else { return true }
            let name = column.name
            guard let theirs = server[name] else {
                return local[name]?.isNull ?? true || shownColumns.map { !$0.contains(name) } ?? false
            }
            let mine = local[name] ?? .null
            if mine.isNull, !theirs.isNull {
                return defaultsCountAsNull && (theirs == false || theirs.compare(with: 0) == 0)
            }
            return mine == theirs || mine.compare(with: theirs) == 0 || mine.isSameUUID(as: theirs)
        }
    }
}

extension FieldValue {
    /// Whether both are one UUID: servers write them in either case, whatever they were given.
    fileprivate func isSameUUID(as other: FieldValue) -> Bool {
        guard let mine = stringValue?.utf8, let theirs = other.stringValue?.utf8, mine.count == 36, theirs.count == 36
        else { return false }
        return zip(mine, theirs).enumerated()
            .allSatisfy { position, bytes in
                if [8, 13, 18, 23].contains(position) { return bytes == (0x2D, 0x2D) }
                // A letter and its capital differ in one bit.
                guard bytes.0 == bytes.1 || bytes.0 ^ bytes.1 == 0x20 else { return false }
                return (0x30...0x39).contains(bytes.0) && bytes.0 == bytes.1 || (0x61...0x66).contains(bytes.0 | 0x20)
            }
    }
}
