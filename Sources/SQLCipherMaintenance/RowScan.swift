import SQLCipherStore
import SyncContract

/// Reads every row of every table, and goes on behind rows that cannot be read.
struct RowScan {
    let layout: TableLayout

    /// Opens a connection: one that met a damaged page gives nothing more.
    let open: () throws -> Database

    /// How far a scan came.
    private struct Reach {
        var lastNumber: Int64?
        var isComplete = false
    }

    /// Hands what is wrong to a closure. Another closure is called for each row.
    func run(_ progress: () throws -> Void, _ report: (StoreFinding) -> Void) throws {
        guard let number = rowNumber else { return }
        let forward = try scan("ASC", number, progress, report)
        guard !forward.isComplete else { return }
        let table = layout.definition.name
        // From the other end, the rows behind the damage are reached as well.
        let backward = try scan("DESC", number, progress, report)
        let first = forward.lastNumber.map { "from the one with number \($0)" } ?? "from the first one"
        let last = backward.lastNumber.map { "to the one with number \($0)" } ?? "to the last one"
        report(
            StoreFinding(
                .unreadableRows,
                .table(table),
                "rows of table '\(table)' cannot be read, or not to their end: some \(first) \(last)"
            )
        )
    }

    /// The name by which SQL reaches the number of a row: one that no column has. There is always one, or the app has
    /// declared all three.
    private var rowNumber: String? {
        let names = layout.columns.map { $0.name.asciiLowercased() }
        return ["rowid", "_rowid_", "oid"].first { !names.contains($0) }
    }

    private func scan(
        _ direction: String,
        _ number: String,
        _ progress: () throws -> Void,
        _ report: (StoreFinding) -> Void
    ) throws -> Reach {
        let check = RowCheck(layout: layout)
        let sql = "SELECT \(number), \(check.sqlColumns) FROM \(layout.sqlName) ORDER BY \(number) \(direction)"
        var reach = Reach()
        do {
            let database = try open()
            try database.withStatement(sql) { row in
                while try row.step() {
                    let number = row.int64(0)
                    if let problem = check.problem(in: row) {
                        let table = layout.definition.name
                        report(
                            StoreFinding(
                                .damagedValue,
                                .row(number, table: table),
                                "row \(number) of table '\(table)': \(problem)"
                            )
                        )
                    }
                    try progress()
                    reach.lastNumber = number
                }
            }
            try database.verifyPagesRead()
            reach.isComplete = true
        } catch let failure as SQLiteFailure where failure.isDamage {
            // How far it came says where the damage is.
        }
        return reach
    }
}
