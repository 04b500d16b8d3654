extension Protocol3Handler {
    /// One page of a table. Whatever is wrong with the options is a 400 whose body is the reason as a JSON string.
    func query(_ table: EmulatedTable) -> EmulatorResponse {
        do throws(ODataError) {
            let options = try Options(request.options, maximumTop: configuration.effectiveMaximumTop)
            let resolve: ODataParser.Resolver = { name in Self.property(name, of: table) }
            var query = TableQuery(includesDeleted: includesDeleted, skip: options.skip, needsTotal: options.count)
            if let filter = options.filter { query.filter = try ODataParser.filter(filter, resolve: resolve) }
            if let order = options.order { query.orders = try ODataParser.order(order, resolve: resolve) }
            var selection: [String]?
            if let select = options.select { selection = try Self.selection(select, resolve: resolve) }
            query.take = min(options.top ?? .max, configuration.effectivePageSize)
            return page(query.run(on: table), of: table, options: options, selection: selection)
        } catch {
            return .json(400, .string(error.message))
        }
    }

    private func page(
        _ result: TableQuery.Result,
        of table: EmulatedTable,
        options: Options,
        selection: [String]?
    ) -> EmulatorResponse {
        let items = result.rows.map { row in
            let members = Self.members(of: row, in: table)
            guard let selection else { return JSONValue.object(members) }
            return .object(Dictionary(selection.map { ($0, members[$0] ?? .null) }) { $1 })
        }
        let left = options.top.map { $0 - result.rows.count }
        let next = result.hasMore && left != 0 ? options.next(skip: options.skip + result.rows.count, top: left) : nil
        return .json(
            200,
            [
                "items": .array(items),
                "count": options.count ? .integer(Int64(result.matching)) : .null,
                "nextLink": next.map { .string($0) } ?? .null,
            ]
        )
    }

    // MARK: Names

    /// System columns and known ones, ignoring case. A table that never had a row cannot tell which columns its
    /// clients declare, so there any name counts as null, unless the columns are strict.
    private static func property(_ name: String, of table: EmulatedTable) -> ODataParser.Property {
        let lowered = name.lowercased()
        if let system = ["id", "updatedAt", "version", "deleted"].first(where: { $0.lowercased() == lowered }) {
            return .column(system)
        }
        let known = table.definition.strictColumns.map(Array.init) ?? Array(table.columns.keys)
        if known.contains(name) { return .column(name) }
        if let column = known.sorted().first(where: { $0.lowercased() == lowered }) { return .column(column) }
        return table.hasHadRows || table.definition.strictColumns != nil ? .unknown : .alwaysNull
    }

    private static func selection(_ text: String, resolve: ODataParser.Resolver) throws(ODataError) -> [String] {
        var names: [String] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            var name = part[...]
            while name.first == " " { name.removeFirst() }
            while name.last == " " { name.removeLast() }
            switch resolve(String(name)) {
            case .column(let column): names.append(column)
            case .alwaysNull where !name.isEmpty && !name.contains(" "): names.append(String(name))
            case .alwaysNull, .unknown: throw .syntax("Could not find a property named '\(name)'", at: 0)
            }
        }
        return names
    }

    // MARK: Options

    private struct Options {
        var filter: String?
        var order: String?
        var select: String?
        var skip = 0
        var top: Int?
        var count = false
        private let all: [(name: String, value: String)]

        init(_ options: [(name: String, value: String)], maximumTop: Int) throws(ODataError) {
            all = options
            for (name, value) in options where name.hasPrefix("$") {
                switch name.lowercased() {
                case "$filter": filter = value
                case "$orderby": order = value
                case "$select": select = value
                case "$skip": skip = try Self.number(value, of: name, maximum: .max)
                case "$top": top = try Self.number(value, of: name, maximum: maximumTop)
                case "$count" where value == "true" || value == "false": count = value == "true"
                case "$count": throw .syntax("Invalid value '\(value)' for $count", at: 0)
                default: throw .syntax("The query parameter '\(name)' is not supported", at: 0)
                }
            }
        }

        private static func number(_ text: String, of name: String, maximum: Int) throws(ODataError) -> Int {
            guard let number = Int(text), (0...maximum).contains(number) else {
                throw .syntax("Invalid value '\(text)' for \(name)", at: 0)
            }
            return number
        }

        /// The query of the next page: this one's with the position moved on. A bare query string.
        func next(skip: Int, top: Int?) -> String {
            var options = all.filter { !["$skip", "$top"].contains($0.name.lowercased()) }
            options.append(("$skip", skip.description))
            if let top { options.append(("$top", top.description)) }
            return
                options.map { name, value in
                    "\(PercentEncoding.encode(name, also: "$"))=\(PercentEncoding.encode(value))"
                }
                .joined(separator: "&")
        }
    }
}
