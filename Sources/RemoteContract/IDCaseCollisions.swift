package import SyncContract

/// Rows that a server keeps apart and a table takes for one, because their ids differ in the case of letters only. They
/// are named, not merged: either one would overwrite the other, again with every pull.
package enum IDCaseCollisions {
    /// Takes the rows out of a page that the server keeps apart there. A row that comes twice in one spelling is one row, of
    /// which the later one counts; one that is deleted is kept apart from none.
    ///
    /// - Parameters:
    ///   - records: The rows of a page or answer.
    ///   - table: The table.
    /// - Returns: The other rows, in their order, but deleted ones before the row that has another spelling; and those taken
    ///   out with the reason.
    package static func separate(
        _ records: [Record],
        of table: TableDefinition
    ) -> (records: [Record], setAside: [SetAsideRow]) {
        guard table.idComparison == .asciiCaseInsensitive else { return (records, []) }
        let isDeleted = Dictionary(records.map { ($0.id, $0.isDeleted) }) { $1 }
        let spellings = Dictionary(grouping: isDeleted.keys) { $0.folded(for: .asciiCaseInsensitive) }
            .filter { $0.value.count > 1 }
        guard !spellings.isEmpty else { return (records, []) }
        var gone: Set<RecordID> = []
        var apart: Set<RecordID> = []
        var setAside: [SetAsideRow] = []
        for ids in spellings.values {
            let alive = ids.filter { isDeleted[$0] == false }
            // Of deleted ones any is as good as the other.
            if !alive.isEmpty { gone.formUnion(ids.filter { isDeleted[$0] == true }) }
            guard alive.count > 1 else { continue }
            apart.formUnion(alive)
            let texts = alive.compactMap(\.stringValue).sorted()
            setAside += texts.map { text in
                let others = texts.filter { $0 != text }.map { "'\($0)'" }.joined(separator: ", ")
                return SetAsideRow(id: text, reason: reason(others, table))
            }
        }
        // Of rows that a table takes for one the later one counts.
        return (
            records.filter { gone.contains($0.id) }
                + records.filter { !gone.contains($0.id) && !apart.contains($0.id) },
            setAside.sorted { $0.id < $1.id }
        )
    }

    /// Whether a row of the server may be another one than the local row that is found under its id.
    ///
    /// It may also be the same, removed for good and made anew. The server tells: asked for the local row's id, it answers
    /// with a row of that very spelling when it keeps two.
    package static func isSuspected(_ serverRow: Record, besides local: Record?, in table: TableDefinition) -> Bool {
        guard let local, table.idComparison == .asciiCaseInsensitive else { return false }
        // Without a version it never came from the server, whose spelling is then the only one there is.
        return local.version != nil && local.id != serverRow.id && table.isSameID(local.id, serverRow.id)
    }

    /// What is said of a row that is set aside for another one.
    package static func reason(_ others: String, _ table: TableDefinition) -> String {
        beginning + others + ", which table '\(table.name)' takes for the same id; declare a new"
            + " table with idComparison: .exact and wireName: \"\(table.wireName)\", and pull that"
    }

    /// The reason for which a row is set aside, without the ids of others, for a log.
    package static func withoutIDs(_ reason: String) -> String {
        guard reason.hasPrefix(beginning), let end = reason.ranges(of: ", which table '").last else {
            return reason
        }
        return beginning + "another spelling" + reason[end.lowerBound...]
    }

    private static let beginning = "the server also has "
}
