internal import HTTPTransport
internal import RecordJSON
internal import RemoteContract
internal import SyncContract

/// Reads rows of one table out of answers.
struct RowReader: Sendable {
    let table: TableDefinition
    private let coding: RecordCoding

    init(table: TableDefinition) {
        self.table = table
        coding = RecordCoding(table)
    }

    /// The row that an answer to a request for one row holds.
    ///
    /// - Throws: ``RemoteContract/RemoteError`` with code `invalidResponse` when it holds none, or another one.
    func row(_ id: String, in response: ServerResponse) throws(RemoteError) -> Record {
        let row = try newRow(in: response)
        guard isSame(row.id, id) else {
            throw response.invalid("is another row of table '\(table.name)' than asked for")
        }
        return row
    }

    /// The row that an answer to a request for one row holds, whatever its id is.
    func newRow(in response: ServerResponse) throws(RemoteError) -> Record {
        var row = try record(try response.json(), in: response)
        if row.version == nil, let version = EntityTag.version(response.fields[.eTag]) {
            row["version"] = .string(version)
        }
        return row
    }

    /// The server's row in the answer that tells of a conflict; nil when the answer has none.
    ///
    /// Some servers send the client's own row back. It is told from theirs by what only a server writes.
    func conflictingRow(_ id: String, in response: ServerResponse) -> Record? {
        do throws(RemoteError) {
            let row = try row(id, in: response)
            return row.version != nil || row.updatedAt != nil ? row : nil
        } catch {
            // Whatever the body is instead, the row has to be asked for.
            return nil
        }
    }

    /// The row in the answer to an insert that the server stored under an id of its own; nil when it is none.
    func rowUnderAnotherID(than id: String, in response: ServerResponse) -> Record? {
        do throws(RemoteError) {
            let row = try record(try response.json(), in: response)
            return !isSame(row.id, id) && (row.version != nil || row.updatedAt != nil) ? row : nil
        } catch {
            // What is no row is told by whoever reads it.
            return nil
        }
    }

    /// The row with an id in a list; nil when the list has none. Of several that the table takes for one, it is the one
    /// in this very spelling.
    func row(_ id: String, inListOf response: ServerResponse) throws(RemoteError) -> Record? {
        var found: Record?
        for node in try list(in: response).nodes {
            let row = try record(node, in: response)
            if row.id == .string(id) { return row }
            if found == nil, isSame(row.id, id) { found = row }
        }
        return found
    }

    /// The page that an answer holds: a page object, `{results,count}` or a bare array.
    ///
    /// - Throws: ``RemoteContract/RemoteError`` with code `invalidResponse` when it is no list of rows with ids. A row that
    ///   has one and does not fit the table is in the page, with the reason.
    func page(of query: Query, in response: ServerResponse) throws(RemoteError) -> ServerPage {
        let list = try list(in: response)
        let rows = try list.nodes.map { (node) throws(RemoteError) in try pageRow(node, in: response) }
        let reachesCount = list.count.map { $0 <= query.offset + rows.count } ?? false
        let isLast =
            if rows.isEmpty, query.limit != 0 {
                list.continues != true
            } else {
                reachesCount ? list.continues != true : list.continues == false && query.limit == nil
            }
        return ServerPage(rows: rows, isKnownToBeLast: isLast, totalCount: list.count)
    }

    private func pageRow(_ node: JSONNode, in response: ServerResponse) throws(RemoteError) -> ServerPage.Row {
        let id: RowKey
        switch (table.idKind, node["id"]) {
        case (.string, .string(let text)?): id = .text(text)
        case (.int64, .number(let text)?) where Int64(text) != nil: id = .number(Int64(text) ?? 0)
        default: throw response.invalid("does not fit table '\(table.name)': the item has no usable 'id'")
        }
        let stamp: Int64? =
            if case .date(let stamp)? = node["updatedAt"].flatMap({ coding.field($0, as: .date) }) {
                stamp.milliseconds
            } else { nil }
        do throws(RecordCodingError) {
            return ServerPage.Row(id: id, stamp: stamp, content: .record(try content(node)))
        } catch {
            return ServerPage.Row(id: id, stamp: stamp, content: .unusable(error.message))
        }
    }

    /// The rows of a list, the count if there is one, and whether more follows if the list says so.
    private func list(
        in response: ServerResponse
    ) throws(RemoteError) -> (nodes: [JSONNode], count: Int?, continues: Bool?) {
        let body = try response.json()
        if let nodes = body.elements { return (nodes, nil, nil) }
        guard let nodes = body["items"]?.elements ?? body["results"]?.elements else {
            throw response.invalid("has neither 'items' nor 'results'; is this the address of a table?")
        }
        var count: Int?
        switch body["count"] {
        case nil, .null: break
        case .some(let node):
            guard let number = node.int64Value.flatMap(Int.init(exactly:)), number >= 0 else {
                throw response.invalid("has a 'count' that is not a count")
            }
            count = number
        }
        guard body["items"] != nil else { return (nodes, count, nil) }
        switch body["nextLink"] {
        case nil, .null: return (nodes, count, false)
        case .string(let link): return (nodes, count, !link.isEmpty)
        default: throw response.invalid("has a 'nextLink' that is not text")
        }
    }

    private func record(_ node: JSONNode, in response: ServerResponse) throws(RemoteError) -> Record {
        do throws(RecordCodingError) {
            return try content(node)
        } catch {
            throw response.invalid("does not fit table '\(table.name)': \(error.message)")
        }
    }

    /// A row as a record. Of a tombstone only what the server sets is looked at: what it was before is nobody's business.
    private func content(_ node: JSONNode) throws(RecordCodingError) -> Record {
        do throws(RecordCodingError) {
            return try coding.record(node)
        } catch {
            guard case .object(let members, let source) = node, node["deleted"]?.isTrue == true else { throw error }
            let kept = members.filter { $0.name == "id" || SystemProperties.names.contains($0.name) }
            return try coding.record(.object(kept, source: source))
        }
    }

    private func isSame(_ id: RecordID, _ other: String) -> Bool {
        table.isSameID(id, .string(other))
    }
}
