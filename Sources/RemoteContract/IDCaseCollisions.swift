package import SyncContract

/// Rows that a server keeps apart and a table takes for one, because their ids differ in the case of letters only. They
/// are named, not merged: either one would overwrite the other, again with every pull.
package enum IDCaseCollisions {
    /// Takes the rows out of a page that the server keeps apart there. A row that comes twice in one spelling is one row.
    ///
    /// - Parameters:
    ///   - records: The rows of a page or answer.
    ///   - table: The table.
    /// - Returns: The other rows, in their order, and those taken out with the reason.
    package static func separate(
        _ records: [Record],
        of table: TableDefinition
    ) -> (records: [Record], setAside: [SetAsideRow]) {
        guard table.idComparison == .asciiCaseInsensitive else { return (records, []) }
        let spellings = Dictionary(grouping: Set(records.map(\.id))) { $0.folded(for: .asciiCaseInsensitive) }
            .filter { $0.value.count > 1 }
        guard !spellings.isEmpty else { return (records, []) }
        let setAside = spellings.values.flatMap { ids in
            let texts = ids.compactMap(\.stringValue).sorted()
            return texts.map { text in
                let others = texts.filter { $0 != text }.map { "'\($0)'" }.joined(separator: ", ")
                return SetAsideRow(id: text, reason: reason(others, table))
            }
        }
        return (
            records.filter { spellings[$0.id.folded(for: .asciiCaseInsensitive)] == nil },
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
        "the server also has \(others), which table '\(table.name)' takes for the same id; declare a new"
            + " table with idComparison: .exact and wireName: \"\(table.wireName)\", and pull that"
    }
}
