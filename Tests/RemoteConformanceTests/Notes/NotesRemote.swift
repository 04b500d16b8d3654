import Foundation
import HTTPTransport
import QueryEvaluation
import RecordJSON
import RemoteContract
import SyncContract

/// The notes service as the sync engine sees it.
struct NotesRemote: SyncRemote {
    let host: String
    var scheme = "https"
    var transport: any ClientTransport = DefaultTransport()

    // The service writes whole rows.
    let replacesWholeRows = true
    let idRule = RowIDRule(maximumLength: 100, allowsNonASCII: true)
    let maximumBatchSize = 50

    // MARK: Changes

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await send(NotesWrite(record, in: table, base: .new)).written()
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        try await send(NotesWrite(record, in: table, base: .init(version), restoring: restoring)).written()
    }

    @discardableResult
    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await send(NotesWrite(deletionOf: id, from: table, base: .init(version))).deletion()
    }

    func writeTombstone(_ record: Record, in table: TableDefinition, version: String?) async throws -> Record? {
        var write = try NotesWrite(record, in: table, base: version.map { .revision($0) } ?? .new)
        write.makeTombstone()
        return try await send(write).written()
    }

    private func send(_ write: NotesWrite) async throws -> NotesOutcome {
        var request = request(write.method, "/\(write.table.name)/rows/\(Self.encoded(write.id))")
        switch write.base {
        case .new: request.headerFields[.ifNoneMatch] = "*"
        case .any: request.headerFields[.ifMatch] = "*"
        case .revision(let revision): request.headerFields[.ifMatch] = "\"\(revision)\""
        }
        if write.restores, let field = HTTPField.Name("Restore") { request.headerFields[field] = "true" }
        request.body = write.row.map { Array($0.text.utf8) }
        let answer = try await exchange(request)
        return try NotesOutcome(of: write, answer.status.code, answer.body)
    }

    // MARK: Reading

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        let answer = try await exchange(request(.get, "/\(table.name)/rows/\(Self.encoded(id))"))
        switch answer.status.code {
        case 200: return try NotesRow(table).record(answer.body)
        case 404: return nil
        default: throw RemoteError(status: answer.status.code)
        }
    }

    func confirm(_ table: TableDefinition) async throws {
        do {
            let answer = try await exchange(request(.get, "/\(table.name)/changes?limit=0"))
            if answer.status.code != 200 { throw RemoteError(status: answer.status.code) }
        } catch let error as RemoteError where error.code == .notFound || error.code == .notTheService {
            throw RemoteError(
                .notFound,
                "\(host) has no table '\(table.name)' of the notes service; check the address."
            )
        }
    }

    // MARK: Requests

    func request(_ method: HTTPRequest.Method, _ path: String) -> HTTPRequest {
        HTTPRequest(method: method, scheme: scheme, authority: host, path: path, timeout: .seconds(60))
    }

    /// Sends a request once. What does not say that it is the service's is no answer of it, whatever its status.
    func exchange(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        RequestCounter.countRequest()
        let answer: HTTPResponse
        do {
            answer = try await transport.send(request)
        } catch let error as TransportError {
            let isUnsendable = error.code == .invalidRequest
            throw RemoteError(isUnsendable ? .invalidRequest : .unreachable, error.message, cause: error)
        }
        // These may come from something in front of the service.
        if [401, 403, 429, 503].contains(answer.status.code) || answer.status.code >= 500 {
            let seconds = answer.headerFields[.retryAfter].flatMap { Int($0) }
            throw RemoteError(status: answer.status.code, retryAfter: seconds.map(Duration.seconds))
        }
        guard let mark = HTTPField.Name("Notes-Service"), answer.headerFields.contains(mark) else {
            throw RemoteError(
                .notTheService,
                "\(host) is not the notes service, or something in between answers; check the address.",
                status: answer.status.code
            )
        }
        return answer
    }

    static func encoded(_ id: String) -> String {
        id.addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: "-._~").union(.asciiAlphanumerics))
            ?? id
    }
}

extension CharacterSet {
    fileprivate static let asciiAlphanumerics = CharacterSet(
        charactersIn: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    )
}
