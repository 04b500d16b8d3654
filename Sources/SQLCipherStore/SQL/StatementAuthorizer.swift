import CSQLCipher
import SyncContract

/// Says to SQLite what a statement of the app's own may do, while it is prepared and, if SQLite prepares it again,
/// while it runs. It stays with the connection: setting one anew would make SQLite prepare every other statement again.
final class StatementAuthorizer {
    /// Whether a statement of the app's own is under way. Those of the store are not asked about.
    private var isAsked = false

    /// Why the statement was refused.
    private(set) var refusal: String?

    /// The columns that are stored and not declared, as far as the statement names them, or means them with a `*`: it
    /// sees nulls in their place.
    var hiddenColumns: Set<String> = []

    /// The declared columns of the app's tables; SQL ignores the case of A to Z in names.
    private let columns: [String: Set<String>]

    init(_ tables: [TableDefinition]) {
        var columns: [String: Set<String>] = [:]
        for table in tables {
            columns[table.name.asciiLowercased()] = Set(
                (["id"] + table.allColumns.map(\.name)).map { $0.asciiLowercased() }
            )
        }
        self.columns = columns
    }

    /// Runs a closure in which every statement is the app's own.
    func asked<Value>(_ body: () throws -> Value) rethrows -> Value {
        isAsked = true
        refusal = nil
        defer { isAsked = false }
        return try body()
    }

    /// Makes this the authorizer of a connection, which must not outlive it.
    func install(on database: Database) {
        _ = unsafe sqlite3_set_authorizer(
            database.pointer,
            { context, action, first, second, database, _ in
                guard let context = unsafe context else { return SQLITE_DENY }
                return unsafe Unmanaged<StatementAuthorizer>.fromOpaque(context).takeUnretainedValue()
                    .answer(action, text(first), text(second), text(database))
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    private func answer(_ action: Int32, _ first: String, _ second: String, _ database: String) -> Int32 {
        guard isAsked else { return SQLITE_OK }
        if action == SQLITE_READ, isHidden(second, in: first, of: database) {
            hiddenColumns.insert(second)
            return SQLITE_IGNORE
        }
        guard let reason = objection(action, first, second, database) else { return SQLITE_OK }
        refusal = refusal ?? reason
        return SQLITE_DENY
    }

    /// Whether a column of the app's tables is not declared.
    private func isHidden(_ column: String, in table: String, of database: String) -> Bool {
        guard database == "main", !column.isEmpty, column != "ROWID" else { return false }
        return columns[table.asciiLowercased()].map { !$0.contains(column.asciiLowercased()) } ?? false
    }

    /// What speaks against an action; nil for one that is allowed.
    private func objection(_ action: Int32, _ first: String, _ second: String, _ database: String) -> String? {
        switch action {
        case SQLITE_SELECT, SQLITE_RECURSIVE: return nil
        case SQLITE_READ:
            // A table of which no column is read, or what the statement itself gave a name. The program says which.
            if second.isEmpty { return nil }
            guard database == "main", let columns = columns[first.asciiLowercased()] else {
                return "it reads '\(first)', which is no declared table of the app"
            }
            // Not declared is only what has no name of its own: every other column is hidden.
            return columns.contains(second.asciiLowercased()) ? nil : "it reads the '\(second)' of '\(first)'"
        case SQLITE_FUNCTION:
            if Self.functions.contains(second.asciiLowercased()) { return nil }
            return "it calls the function '\(second)', which is not one of those that only compute"
        default: return "it does something else than read: one SELECT is taken, which may begin with WITH"
        }
    }

    /// Functions that compute, the same for the same values, and reach nothing else.
    private static let functions: Set<String> = [
        // Text and bytes.
        "char", "glob", "hex", "instr", "length", "like", "lower", "ltrim", "quote", "replace", "rtrim", "substr",
        "substring", "trim", "unicode", "upper", "concat", "concat_ws", "octet_length", "unhex",
        // Numbers.
        "abs", "round", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "cos", "cosh",
        "degrees", "exp", "floor", "ln", "log", "log10", "log2", "mod", "pi", "pow", "power", "radians", "sign", "sin",
        "sinh", "sqrt", "tan", "tanh", "trunc", "max", "min",
        // Dates.
        "date", "datetime", "julianday", "strftime", "time", "timediff", "unixepoch",
        // Choices and kinds.
        "coalesce", "ifnull", "iif", "if", "nullif", "likelihood", "likely", "unlikely", "typeof",
        // Aggregates and ranks.
        "avg", "count", "group_concat", "string_agg", "sum", "total", SQLFunctions.decimalSum, "row_number", "rank",
        "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value", "nth_value",
    ]
}

private func text(_ characters: UnsafePointer<CChar>?) -> String {
    unsafe characters.map { unsafe String(cString: $0) } ?? ""
}
