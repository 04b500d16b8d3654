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

    private func shortened(_ cell: String) -> String { Self.printable(cell, atMost: widest) }

    /// A text on one line and of bounded length, without what could break a table or drive the terminal: control
    /// characters, and marks that turn the direction of writing.
    static func printable(_ text: String, atMost widest: Int) -> String {
        let printable = String(
            text.unicodeScalars.prefix(4 * widest)
                .map { scalar -> Character in
                    let category = scalar.properties.generalCategory
                    return category == .control || category == .format ? " " : Character(scalar)
                }
        )
        return printable.count <= widest ? printable : printable.prefix(widest - 1) + "…"
    }
}
