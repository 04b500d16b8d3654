extension Protocol2Handler {
    /// One page of a table: a bare array, or an object when the total count is asked for.
    func list(_ table: EmulatedTable) -> EmulatorResponse {
        // A top that is not a number turns the page limit off; none at all counts as the largest.
        let top = option("$top").map { Int($0).flatMap { $0 >= 0 ? $0 : nil } } ?? configuration.effectiveMaximumTop
        if let top, top > configuration.effectiveMaximumTop {
            return error(400, "You cannot request more than \(configuration.effectiveMaximumTop) records")
        }
        var query = TableQuery(hasUnknown: true)
        query.includesDeleted = option("__includeDeleted").map { !$0.isEmpty } ?? false
        query.skip = option("$skip").flatMap { Int($0) }.map { max(0, $0) } ?? 0
        query.take = take(top)
        query.needsTotal = option("$inlinecount") == "allpages"
        let selection: [String]?
        do {
            let resolve: ODataParser.Resolver = { name in Self.property(name, of: table) }
            query.filter = try nonEmptyOption("$filter")
                .map { try ODataParser.filter($0, .azureMobileApps, resolve: resolve) }
            query.orders =
                try nonEmptyOption("$orderby").map { try ODataParser.order($0, .azureMobileApps, resolve: resolve) }
                ?? []
            selection = try nonEmptyOption("$select").map { try Self.selection($0, of: table) }
        } catch let problem as ODataError where problem.reason == .unknownProperty {
            // The server catches the missing column, for a later insert may still make it.
            return page([], total: query.needsTotal ? 0 : nil)
        } catch let problem as ODataError {
            return error(500, "\(problem.message) (at index \(problem.position + 1))")
        } catch {
            return self.error(500, "\(error)")
        }
        let result = query.run(on: table)
        let items = result.rows.map { row in
            let members = Self.members(of: row, in: table)
            guard let selection else { return JSONValue.object(members) }
            return .object(Dictionary(selection.map { ($0, members[$0] ?? .null) }) { $1 })
        }
        var response = page(items, total: query.needsTotal ? result.matching : nil)
        if let top = linkedTop(top, itemCount: items.count) {
            response.headers["Link"] = link(top: top, skip: query.skip + items.count)
        }
        return response
    }

    /// How many rows a page has at most. Version 4 takes a `$top` for the page size, and 0 for none.
    private func take(_ top: Int?) -> Int? {
        guard configuration.edition == .node4 else { return top.map { min($0, configuration.effectivePageSize) } }
        return askedTop ?? configuration.effectivePageSize
    }

    private var askedTop: Int? {
        option("$top").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// The `$top` of the link to the next page; nil where there is no link. Version 4 links from every full page.
    private func linkedTop(_ top: Int?, itemCount: Int) -> Int? {
        if configuration.edition == .node4 {
            let size = askedTop ?? configuration.effectivePageSize
            return itemCount == size ? size : nil
        }
        guard let top, top > itemCount, itemCount == configuration.effectivePageSize else { return nil }
        return top - itemCount
    }

    private func page(_ items: [JSONValue], total: Int?) -> EmulatorResponse {
        guard let total else { return uncached(makeResponse(200, .array(items))) }
        return uncached(makeResponse(200, ["results": .array(items), "count": .integer(Int64(total))]))
    }

    /// The next page as the server writes it: no angle brackets, no port, and the path `/` instead of the table's.
    private func link(top: Int, skip: Int) -> String {
        let host = request.headers["Host"] ?? "localhost"
        let name = host.hasSuffix("]") ? host : String(host.split(separator: ":").dropLast().joined(separator: ":"))
        var options = request.options.filter { $0.name != "$top" && $0.name != "$skip" }
        options.append(("$top", top.description))
        options.append(("$skip", skip.description))
        let query =
            options.map { name, value in
                "\(PercentEncoding.encode(name, also: "!'()*"))=\(PercentEncoding.encode(value, also: "!'()*"))"
            }
            .joined(separator: "&")
        return "\(request.scheme)://\(name.isEmpty ? host : name)/?\(query); rel=next"
    }

    // MARK: Options and names, whose case counts

    private func option(_ name: String) -> String? {
        request.options.first { $0.name == name }?.value
    }

    private func nonEmptyOption(_ name: String) -> String? {
        option(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Columns ignore case, as SQLite's do.
    private static func property(_ name: String, of table: EmulatedTable) -> ODataParser.Property {
        let system = ["id", "createdAt", "updatedAt", "version", "deleted"]
        let column = (system + table.columns.keys).first { $0.lowercased() == name.lowercased() }
        return column.map { .column($0) } ?? .unknown
    }

    private static func selection(_ text: String, of table: EmulatedTable) throws -> [String] {
        try text.split(separator: ",")
            .map { part in
                let name = part.split(separator: " ").joined(separator: " ")
                guard case .column(let column) = property(name, of: table) else {
                    throw ODataError(reason: .unknownProperty, message: "no such column: \(name)", position: 0)
                }
                return column
            }
    }
}
