import RecordJSON
import RemoteContract
import SyncContract

/// What the service has made of a change.
struct NotesOutcome {
    let write: NotesWrite
    let status: Int
    /// The row as it is there now; nil when the answer has none.
    let row: Record?
    /// That there is a row, and it does not fit its table.
    let misfit: RemoteError?

    init(of write: NotesWrite, _ status: Int, _ body: some Collection<UInt8>) throws {
        (self.write, self.status) = (write, status)
        do {
            row = [200, 412].contains(status) && !body.isEmpty ? try NotesRow(write.table).record(body) : nil
            misfit = nil
        } catch let error as RemoteError where error.code == .unfitRow {
            (row, misfit) = (nil, error)
        }
    }

    /// The row that was written.
    func written() throws -> Record {
        switch (status, row) {
        case (200, let row?): return row
        case (412, let row): throw conflict(with: row)
        default: throw misfit ?? RemoteError(status: status)
        }
    }

    /// What has become of a deletion: done, not there, or a conflict.
    func deletion() throws -> RemoteDeletion {
        switch (status, row) {
        case (200, let row?) where row.isDeleted: return .confirmed
        case (404, _): return .unconfirmed(status: 404)
        case (412, let row): throw conflict(with: row)
        default: throw RemoteError(status: status)
        }
    }

    private func conflict(with row: Record?) -> RemoteError {
        RemoteError(
            .conflict,
            "The service has another revision of the row in table '\(write.table.name)'; resolve the conflict.",
            status: 412,
            serverRecord: row,
            cause: misfit
        )
    }
}

/// Rows as the service writes them: a revision and a sequence number stand beside the columns.
struct NotesRow {
    private let coding: RecordCoding
    private let identity: RecordCoding
    private let table: String

    init(_ table: TableDefinition) {
        coding = RecordCoding(table)
        identity = RecordCoding(TableDefinition(table.name, columns: []))
        self.table = table.name
    }

    /// The row of a JSON object.
    ///
    /// - Throws: `RemoteError` with code `unfitRow`, which names the table and the column that does not fit.
    func record(_ json: some Collection<UInt8>) throws -> Record {
        switch try row(json) {
        case .success(let record): return record
        case .failure(let misfit):
            let row = Record(id: .string(misfit.id), ["version": misfit.revision])
            throw RemoteError(.unfitRow, misfit.reason, serverRecord: row)
        }
    }

    /// A row that has an id and does not fit its table.
    struct Misfit: Error {
        let id: String
        let revision: FieldValue
        let reason: String
    }

    /// The row of a JSON object, or why it does not fit.
    ///
    /// - Throws: `RemoteError` with code `invalidResponse` for what is no row at all.
    func row(_ json: some Collection<UInt8>) throws -> Result<Record, Misfit> {
        guard let text = JSONText(String(decoding: json, as: UTF8.self)) else { throw noRow }
        let plain: Record
        do {
            plain = try identity.record(from: text)
        } catch {
            throw noRow
        }
        guard let id = plain.id.stringValue, let revision = plain["rev"], revision.stringValue != nil else {
            throw noRow
        }
        // What a deleted row held is nobody's concern.
        if plain.isDeleted { return .success(Record(id: plain.id, ["version": revision, "deleted": true])) }
        do throws(RecordCodingError) {
            var record = try coding.record(from: text)
            record["version"] = revision
            for name in ["rev", "seq"] { record[name] = nil }
            return .success(record)
        } catch {
            return .failure(Misfit(id: id, revision: revision, reason: error.message))
        }
    }

    private var noRow: RemoteError {
        RemoteError(.invalidResponse, "The answer of the service holds no row of table '\(table)'.")
    }
}

extension RemoteError {
    /// What a status says that is neither a success nor a conflict.
    init(status: Int, retryAfter: Duration? = nil) {
        let code: Code =
            switch status {
            case 401: .unauthorized
            case 404: .notFound
            case 429, 503: .throttled
            case 400..<500: .refused
            case 502, 504: .notTheService
            case 500...: .serverFailure
            default: .invalidResponse
            }
        self.init(
            code,
            "The notes service answered with the status \(status); its log says more.",
            status: status,
            retryAfter: retryAfter
        )
    }
}
