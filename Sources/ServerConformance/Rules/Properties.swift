internal import ConformanceRunner

extension ServerRules {
    /// Rules that hold always: they find out what is neither right nor wrong, and tell it.
    static let properties: [Entry] = [
        property(
            "property.page-size",
            "How many rows a page holds: any number from 1 is right.",
            in: "datasync-genuine III 6",
            "Asks for \(PageRows.count) rows."
        ) { server in
            let rows = try await server.pageRows()
            let count = try await server.firstPage([("$filter", rows.filter)]).rows.count
            server.subject.tell("page size", count < PageRows.count ? "\(count)" : "\(PageRows.count) or more")
        },
        property(
            "property.filter-length",
            "How many comparisons a filter may have: Datasync servers take 100 nodes, which are 16 ids.",
            in: "datasync-genuine III 6, I 1.9",
            "Asks with up to 64 ids joined by or."
        ) { server in
            try await server.tellLargest("comparisons in a filter", below: 65) { count in
                [("$filter", (0..<count).map { "id eq '\($0)'" }.joined(separator: " or "))]
            }
        },
        property(
            "property.order-columns",
            "How many columns an order may have: Datasync servers take five.",
            in: "datasync-genuine III 6",
            "Orders by up to as many columns as are known."
        ) { server in
            let names = ["updatedAt", "id", "deleted"] + server.profile.columns.values.sorted() + ["version"]
            try await server.tellLargest("columns in an order", below: names.count + 1) { count in
                [("$filter", "id eq 'x'"), ("$orderby", names.prefix(count).joined(separator: ","))]
            }
        },
        property(
            "property.address-length",
            "How long an address may be: Kestrel takes 8,192 bytes with the method and the version.",
            in: "datasync-genuine III 6",
            "Asks with a parameter of up to 16 kB."
        ) { server in
            let start = server.client.path(ofTable: server.client.table) + "?$top=1&conform="
            let longest = try await largest(below: 16_384) { length in
                let path = start + String(repeating: "x", count: max(0, length - start.count))
                return try await server.isTaken(ServerRequest(method: "GET"), path: path)
            }
            server.subject.tell("longest address", longest == 16_383 ? "16 kB or more" : "\(longest) bytes")
        },
        property(
            "property.nulls",
            "Where nulls are in an order: first or last, as the database likes.",
            in: "datasync-genuine III 11",
            "Orders a row with a text and one with null."
        ) { server in
            let column = try server.column(.text)
            let full = try await server.insert()
            let made = try await server.send("POST", nil, server.item(server.newID(), [.text: .null]))
            guard made.status == 201, made.json?[column] == .null else {
                throw Unsupported("'\(column)' cannot be null on this server")
            }
            let rows = [full, try server.row(of: made)]
            let page = try await server.list([("$filter", server.among(rows)), ("$orderby", column)])
            server.subject.tell("nulls in an order", page.ids.first == full.id ? "last" : "first")
        },
        property(
            "property.collation",
            "How texts are compared and ordered: with regard to case or not, as the database likes.",
            in: "datasync-genuine III 11",
            "Orders the texts a, B and _, and asks for b."
        ) { server in
            let column = try server.column(.text)
            var rows: [ServerRow] = []
            for text in ["a", "B", "_"] { rows.append(try await server.insert([.text: .string(text)])) }
            let page = try await server.list([("$filter", server.among(rows)), ("$orderby", column)])
            let order = page.rows.compactMap { $0[column]?.string }.joined(separator: " ")
            let found = try await server.list([("$filter", server.among(rows, "\(column) eq 'b'"))])
            let regard = found.rows.isEmpty ? "with regard to case" : "without regard to case"
            server.subject.tell("texts", "compared \(regard), in the order \(order)")
        },
        property(
            "property.stamp-precision",
            "How fine stamps are kept: finer than they are shown, eq finds no row by its own and gt finds it again.",
            in: "datasync-genuine III 2",
            "Asks for rows by gt and eq of their own stamps."
        ) { server in
            let rows = try await server.stampedRows(5)
            var (isFiner, isExact) = (false, true)
            for row in rows {
                let stamp = server.speaks.instant(row.updatedAt)
                let later = try await server.list([("$filter", server.among([row], "updatedAt gt \(stamp)"))])
                let equal = try await server.list([("$filter", server.among([row], "updatedAt eq \(stamp)"))])
                if !later.rows.isEmpty { isFiner = true }
                if equal.rows.isEmpty { isExact = false }
            }
            let text =
                isFiner ? "finer than the milliseconds that are shown" : isExact ? "milliseconds" : "compared otherwise"
            server.subject.tell("stamps", text)
        },
    ]

    private static func property(
        _ id: String,
        _ sentence: String,
        in source: String,
        _ procedure: String,
        _ body: @escaping Body
    ) -> Entry {
        let told = procedure + " What is found stands among the report's properties."
        return rule(id, .both, sentence, in: source, for: .nobody, told, body)
    }
}

extension ServerTrial {
    /// Whether a request is answered with a page. A server may close the connection on what is too long for it.
    fileprivate func isTaken(_ request: ServerRequest, path: String? = nil) async throws -> Bool {
        do {
            return try await send(request, path: path).status == 200
        } catch is NoResponse {
            return false
        }
    }

    /// Tells the largest number with which a query is taken.
    fileprivate func tellLargest(
        _ name: String,
        below bound: Int,
        _ query: (Int) -> [(String, String)]
    ) async throws {
        let most = try await largest(below: bound) { count in
            try await self.isTaken(ServerRequest(method: "GET", query: query(count)))
        }
        subject.tell(name, most == bound - 1 ? "\(most) or more" : "\(most)")
    }
}
