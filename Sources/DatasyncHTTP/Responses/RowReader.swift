internal import HTTPTransport
internal import RecordJSON
internal import RemoteContract
internal import SyncContract

/// Reads rows of one table out of answers.
struct RowReader: Sendable {
    let table: TableDefinition
    let decoder: RecordDecoder
    private let learned: LearnedMembers?

    /// A reader of a table's rows. What single rows show of their members may be kept from one answer to the next. Tombstones
    /// that do not fit are read without their content, unless it is wanted.
    init(table: TableDefinition, learning learned: LearnedMembers? = nil, wantsTombstones: Bool = false) {
        self.table = table
        self.learned = learned
        decoder = RecordDecoder(RecordCoding(table), readsTombstones: !wantsTombstones)
    }

    /// The row that an answer to a request for one row holds.
    ///
    /// - Throws: ``RemoteContract/RemoteError`` with code `invalidResponse` when it holds none, or another one; `unfitRow`
    ///   when it does not fit the table.
    func row(_ id: String, in response: ServerResponse) throws(RemoteError) -> Record {
        let row = try onlyRow(in: response)
        if let shown = row.id, !isSame(shown, id) { throw anotherRow(response) }
        return versioned(try record(row, in: response), by: response)
    }

    /// The row that an answer to a request for one row holds, whatever its id is.
    ///
    /// - Throws: As ``row(_:in:)``.
    func newRow(in response: ServerResponse) throws(RemoteError) -> Record {
        versioned(try record(try onlyRow(in: response), in: response), by: response)
    }

    /// The row in the answer to an insert, and whether the server has stored it under an id of its own.
    ///
    /// - Throws: As ``row(_:in:)``; a row under another id is the server's when it has what only a server writes.
    func insertedRow(
        _ id: String,
        in response: ServerResponse
    ) throws(RemoteError) -> (row: Record, isUnderAnotherID: Bool) {
        let row = try onlyRow(in: response)
        let shown: Record
        do throws(RemoteError) {
            shown = try record(row, in: response)
        } catch {
            guard let unfit = error.serverRecord, !isSame(unfit.id, id) else { throw error }
            guard unfit.version != nil || row.stamp != nil else { throw anotherRow(response) }
            return (unfit, true)
        }
        if isSame(shown.id, id) { return (versioned(shown, by: response), false) }
        guard shown.version != nil || shown.updatedAt != nil else { throw anotherRow(response) }
        return (shown, true)
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

    /// The row with an id in a list; nil when the list has none. Of several that the table takes for one, it is the one
    /// in this very spelling.
    ///
    /// - Throws: As ``row(_:in:)``.
    func row(_ id: String, inListOf response: ServerResponse) throws(RemoteError) -> Record? {
        var found: Record?
        for item in try list(in: response).rows {
            if let other = item.id, !isSame(other, id) { continue }
            let row = try record(item, in: response)
            if row.id == .string(id) { return row }
            found = found ?? row
        }
        return found
    }

    /// The page that an answer holds: a page object, `{results,count}` or a bare array.
    ///
    /// - Throws: ``RemoteContract/RemoteError`` with code `invalidResponse` when it is no list of rows with ids. A row that
    ///   has one and does not fit the table is in the page, with the reason.
    func page(of query: Query, in response: ServerResponse) throws(RemoteError) -> ServerPage {
        let list = try list(in: response)
        let rows = try list.rows.map { (row) throws(RemoteError) in try pageRow(row, in: response) }
        let reachesCount = list.count.map { $0 <= query.offset + rows.count } ?? false
        let isLast =
            if rows.isEmpty, query.limit != 0 {
                list.continues != true
            } else {
                reachesCount ? list.continues != true : list.continues == false && query.limit == nil
            }
        let isFull = rows.count == query.limit || list.nextOffset == query.offset + rows.count
        return ServerPage(
            rows: rows,
            isKnownToBeLast: isLast,
            totalCount: list.count,
            isWhole: isFull || reachesCount,
            nextOffset: list.nextOffset
        )
    }

    private func pageRow(_ row: DecodedRow, in response: ServerResponse) throws(RemoteError) -> ServerPage.Row {
        guard let id = row.id.map(RowKey.init) else {
            throw response.invalid("does not fit table '\(table.name)': the item has no usable 'id'")
        }
        let content: ServerPage.Content =
            switch row.content {
            case .success(let record): .record(record)
            case .failure(let error): .unusable(error.message)
            }
        return ServerPage.Row(id: id, stamp: row.stamp?.milliseconds, content: content)
    }

    /// The only row that an answer holds.
    private func onlyRow(in response: ServerResponse) throws(RemoteError) -> DecodedRow {
        var decoder = learned?.take() ?? decoder
        defer { learned?.keep(decoder) }
        return try response.read { (reader) throws(JSONError) in try decoder.row(from: &reader) }
    }

    private func record(_ row: DecodedRow, in response: ServerResponse) throws(RemoteError) -> Record {
        do throws(RecordCodingError) {
            return try row.content.get()
        } catch {
            let invalid = response.invalid("does not fit table '\(table.name)': \(error.message)")
            guard let id = row.id, id.stringValue?.isEmpty != true, invalid.code == .invalidResponse else {
                throw invalid
            }
            var unfit = Record(id: id)
            if let version = row.versionOfMisfit { unfit["version"] = .string(version) }
            throw RemoteError(
                .unfitRow,
                invalid.message,
                status: invalid.status,
                serverRecord: versioned(unfit, by: response),
                exchange: invalid.exchange
            )
        }
    }

    /// A row with the version that the answer's header has, where it shows none itself.
    private func versioned(_ shown: Record, by response: ServerResponse) -> Record {
        guard shown.version == nil, let version = EntityTag.version(response.fields[.eTag]) else { return shown }
        var row = shown
        row["version"] = .string(version)
        return row
    }

    private func anotherRow(_ response: ServerResponse) -> RemoteError {
        response.invalid("is another row of table '\(table.name)' than asked for")
    }

    private func isSame(_ id: RecordID, _ other: String) -> Bool {
        table.isSameID(id, .string(other))
    }
}
