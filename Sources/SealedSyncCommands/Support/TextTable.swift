/// Rows under headings, in columns as wide as their longest cell, cut so that a line fits a terminal of 80 columns.
struct TextTable {
    private static let lineWidth = 80

    private let headings: [String]
    private let flexible: Int
    private var rows: [[String]] = []

    /// - Parameters:
    ///   - headings: What stands above the columns.
    ///   - flexible: The column that gives way when the lines become too long; the others stay whole.
    init(_ headings: [String], flexible: Int) {
        self.headings = headings
        self.flexible = flexible
    }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// The lines, without trailing spaces.
    var lines: [String] {
        var cut = ([headings] + rows).map { row in row.map { Self.printable($0, atMost: Self.lineWidth) } }
        let others = headings.indices.filter { $0 != flexible }
            .reduce(0) { sum, column in sum + (cut.map { $0[column].count }.max() ?? 0) }
        let room = max(8, Self.lineWidth - others - 2 * (headings.count - 1))
        for index in cut.indices { cut[index][flexible] = Self.printable(cut[index][flexible], atMost: room) }
        let widths = headings.indices.map { column in cut.map { $0[column].count }.max() ?? 0 }
        var lines = cut.map { row in
            zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
                .joined(separator: "  ")
        }
        lines.insert(widths.map { String(repeating: "-", count: $0) }.joined(separator: "  "), at: 1)
        return lines.map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
    }

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
