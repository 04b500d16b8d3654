internal import HTTPTransport
internal import RecordJSON
internal import RemoteContract
internal import SyncContract

/// Reads rows of one table out of answers.
struct RowReader: Sendable {
    let table: TableDefinition

    /// The row that an answer to a request for one row holds.
    ///
    /// - Throws: ``RemoteContract/RemoteError`` with code `invalidResponse` when it holds none, or another one.
    func row(_ id: String, in response: ServerResponse) throws(RemoteError) -> Record {
        var row = try record(try response.json(), in: response)
        guard isSame(row.id, id) else {
            throw response.invalid("is another row of table '\(table.name)' than asked for")
        }
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

    /// The row with an id in a list; nil when the list has none.
    func row(_ id: String, inListOf response: ServerResponse) throws(RemoteError) -> Record? {
        for node in try list(in: response).nodes {
            let row = try record(node, in: response)
            if isSame(row.id, id) { return row }
        }
        return nil
    }

    /// The page that an answer holds: a page object, `{results,count}` or a bare array.
    func page(of query: Query, in response: ServerResponse) throws(RemoteError) -> RemotePage {
        let list = try list(in: response)
        let records = try list.nodes.map { (node) throws(RemoteError) in try record(node, in: response) }
        let reachesCount = list.count.map { $0 <= query.offset + records.count } ?? false
        let isLast =
            if records.isEmpty, query.limit != 0 {
                list.continues != true
            } else {
                reachesCount ? list.continues != true : list.continues == false && query.limit == nil
            }
        return RemotePage(records: records, isKnownToBeLast: isLast, totalCount: list.count)
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
            return try RecordCoding(table).record(node)
        } catch {
            throw response.invalid("does not fit table '\(table.name)': \(error.message)")
        }
    }

    private func isSame(_ id: RecordID, _ other: String) -> Bool {
        table.isSameID(id, .string(other))
    }
}
