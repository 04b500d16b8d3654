/// The columns that a query to a server for .NET may name, and what it may do with them.
struct QueryColumns {
    private let table: EmulatedTable
    private let checker: ODataChecker
    private let readsOldDates: Bool

    init(_ table: EmulatedTable, _ configuration: EmulatorConfiguration) {
        self.table = table
        readsOldDates = configuration.dialect == .azureMobileApps
        checker = ODataChecker(
            columns: table.definition.columns.types,
            areDeclared: !table.definition.columns.isEmpty,
            isTyped: configuration.refusesMistypedQueries
        )
    }

    func filter(_ text: String) throws(ODataError) -> ODataExpression {
        do throws(ODataError) {
            let text = readsOldDates ? OldDateLiterals.asCasts(text) : text
            let (filter, casts) = try ODataParser.countingCasts(text, .datasync, resolve: property)
            try checker.check(filter: filter, casts: casts)
            return filter
        } catch {
            throw named(error)
        }
    }

    func order(_ text: String) throws(ODataError) -> [ODataOrder] {
        do throws(ODataError) {
            let orders = try ODataParser.order(text, .datasync, resolve: property)
            try checker.check(orders: orders)
            return orders
        } catch {
            throw named(error)
        }
    }

    /// A genuine server names the type of its entity; here the table stands for it, in a namespace of no meaning.
    private func named(_ error: ODataError) -> ODataError {
        guard error.reason == .unknownProperty else { return error }
        let message = error.message + " on type 'Svc.\(table.definition.name)'."
        return ODataError(reason: error.reason, message: message, position: error.position)
    }

    func selection(_ text: String) throws(ODataError) -> RowLayout.Selection {
        guard text.utf8.contains(where: { $0 != 0x20 }) else {
            throw .syntax(
                "'select' and 'expand' cannot be empty or whitespace. Omit the parameter from the query if it is not used.",
                at: 0
            )
        }
        var names: [String] = []
        for part in text.split(separator: ",") {
            let name = part.split(separator: " ").joined(separator: " ")
            if name == "*" { throw ODataError(reason: .serverFailure, message: "Name the columns.", position: 0) }
            if name.isEmpty || name.contains(" ") {
                throw .syntax("Term '\(name)' is not valid in a $select or $expand expression.", at: 0)
            }
            switch property(name) {
            case .column(let column): names.append(column)
            case .alwaysNull: names.append(name)
            case .unknown: throw named(.unknownProperty(name, at: 0))
            }
        }
        return table.layout.selection(names)
    }

    /// System columns and known ones, ignoring case. A table that never had a row and has no columns cannot tell which
    /// its clients declare, so there any name counts as null.
    private func property(_ name: String) -> ODataParser.Property {
        let lowered = name.lowercased()
        if let system = ["id", "updatedAt", "version", "deleted"].first(where: { $0.lowercased() == lowered }) {
            return .column(system)
        }
        if table.columns[name] != nil { return .column(name) }
        if let column = table.layout.names.first(where: { $0.lowercased() == lowered }) { return .column(column) }
        return table.hasHadRows || !table.definition.columns.isEmpty ? .unknown : .alwaysNull
    }
}
