import Foundation

extension Protocol3Handler {
    /// One page of a table.
    func query(_ table: EmulatedTable) -> EmulatorResponse {
        do throws(ODataError) {
            let options = try QueryOptions(request.options, maximumTop: configuration.effectiveMaximumTop)
            let columns = QueryColumns(table, configuration)
            let isCounted = isProtocol2 ? asksForCountInProtocol2 : options.count
            var query = TableQuery(includesDeleted: includesDeleted, skip: options.skip, needsTotal: isCounted)
            if let filter = options.filter { query.filter = try columns.filter(filter) }
            if let order = options.order { query.orders = try columns.order(order) }
            let selection = try options.select.map { (text) throws(ODataError) in try columns.selection(text) }
            query.take = min(options.top ?? .max, configuration.effectivePageSize)
            return page(query.run(on: table), of: table, options: options, selection: selection)
        } catch {
            return refusal(error)
        }
    }

    private func page(
        _ result: TableQuery.Result,
        of table: EmulatedTable,
        options: QueryOptions,
        selection: RowLayout.Selection?
    ) -> EmulatorResponse {
        var body = Array((isProtocol2 ? "[" : "{\"items\":[").utf8)
        for (index, row) in result.rows.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            let isWhole = selection.map { $0.write(row, to: &body) } ?? table.layout.write(row, to: &body)
            guard isWhole else { return Self.brokenPage(body) }
        }
        if isProtocol2 {
            let count = asksForCountInProtocol2 ? result.matching : nil
            return Self.protocol2List(body + "]".utf8, count: count)
        }
        body.append(contentsOf: "],\"count\":\(options.count ? result.matching.description : "null")".utf8)
        body.append(contentsOf: ",\"nextLink\":".utf8)
        let left = options.top.map { $0 - result.rows.count }
        if result.hasMore, left != 0 {
            let next = options.next(skip: options.skip + result.rows.count, top: left)
            DotNetJSON.write(configuration.edition == .predecessor ? predecessorLink(next) : next, to: &body)
        } else {
            body.append(contentsOf: "null".utf8)
        }
        body.append(UInt8(ascii: "}"))
        return Self.makeResponse(200, body)
    }

    /// Only the predecessor comes here with protocol 2.
    private var isProtocol2: Bool {
        configuration.dialect == .azureMobileApps
    }

    /// What becomes of a page with a row that cannot be written: a 500, unless the beginning has left already.
    private static func brokenPage(_ body: [UInt8]) -> EmulatorResponse {
        guard body.count > sentAtOnce else { return EmulatorResponse(500) }
        var response = makeResponse(200, body)
        // Counted with the head, so that the body ends too early.
        response.delivery = .cut(after: body.count)
        return response
    }

    /// How many bytes of a body the genuine server holds back.
    private static let sentAtOnce = 16_384
}
