/// Rows under headings, in columns as wide as their longest cell, at most a bound.
struct TextTable {
    private let headings: [String]
    private let widest: Int
    private var rows: [[String]] = []

    init(_ headings: [String], widest: Int = 30) {
        self.headings = headings
        self.widest = widest
    }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// The lines, without trailing spaces.
    var lines: [String] {
        let cut = ([headings] + rows).map { row in row.map(shortened) }
        let widths = headings.indices.map { column in cut.map { $0[column].count }.max() ?? 0 }
        var lines = cut.map { row in
            zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
                .joined(separator: "  ")
        }
        lines.insert(widths.map { String(repeating: "-", count: $0) }.joined(separator: "  "), at: 1)
        return lines.map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
    }

    private func shortened(_ cell: String) -> String {
        // A line break or another control character in a cell would break the table, or worse, drive the terminal.
        let printable = String(
            cell.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
        )
        return printable.count <= widest ? printable : printable.prefix(widest - 1) + "…"
    }
}
