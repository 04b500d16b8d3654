internal import Foundation
internal import ItemCoding
public import RemoteContract
public import SyncContract

extension SyncContext {
    /// A table on the server by name, with untyped rows: every call is a request, and nothing is kept.
    ///
    /// The table need not be one of the store's. Columns of one that is not have the types that JSON has.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/unsupported`` when the remote has no online tables, and with
    ///   ``SyncError/Code/invalidParameter`` for a table that is local only.
    public func remoteTable(_ name: String) throws(SyncError) -> RemoteTable<Record> {
        let declared = store.schema.tables.first { $0.name == name }
        return try remoteTable(declared ?? TableDefinition(name, columns: []))
    }

    /// A table on the server that is declared here, for this alone. Otherwise as ``remoteTable(_:)-(String)``.
    public func remoteTable(_ definition: TableDefinition) throws(SyncError) -> RemoteTable<Record> {
        try definition.checkSynced("found on the server")
        return RemoteTable(definition, try onlineRemote.onlineInLocalNames(), events)
    }

    /// A table on the server by name, with items of a `Codable` type.
    ///
    /// The table need not be one of the store's. The columns of one that is not have the types of the item's properties, as
    /// if it were declared with `TableDefinition(type, named: name)`; where the type cannot be described, they have those that
    /// JSON has. Otherwise as ``remoteTable(_:)-(String)``.
    public func remoteTable<Item: TableItem>(
        _ name: String,
        of type: Item.Type = Item.self
    ) throws(SyncError) -> RemoteTable<Item> where Item.ID: RowID {
        let untyped = try remoteTable(
            store.schema.tables.first { $0.name == name } ?? .described(by: type, named: name)
        )
        return RemoteTable(untyped.definition, untyped.base, events)
    }

    /// The table of a `Codable` type on the server, which has the name of the type. Otherwise as
    /// ``remoteTable(_:)-(String)``.
    public func remoteTable<Item: TableItem>(
        _ type: Item.Type
    ) throws(SyncError) -> RemoteTable<Item> where Item.ID: RowID {
        try remoteTable("\(type)", of: type)
    }

    /// Calls a custom API of the service, with the credentials and header fields that tables have.
    ///
    /// Dates in the body and the answer are texts such as `2026-11-22T08:49:37.000Z`.
    ///
    /// - Parameters:
    ///   - name: The API's name, below `/api`.
    ///   - method: The method.
    ///   - body: What to send as JSON; nil sends no body.
    ///   - parameters: The parameters of the address.
    ///   - type: The type of the answer, which is read from JSON.
    /// - Returns: The answer.
    /// - Throws: `RemoteError`, with code `invalidResponse` when the answer does not fit the type; ``SyncError`` with code
    ///   ``SyncError/Code/invalidParameter`` for a body that cannot be encoded, and with ``SyncError/Code/unsupported``
    ///   when the remote has no custom APIs.
    public func invokeAPI<Answer: Decodable & Sendable>(
        _ name: String,
        method: APIMethod = .post,
        body: (some Encodable & Sendable)? = String?.none,
        parameters: [String: String] = [:],
        as type: Answer.Type
    ) async throws -> Answer {
        let answer = try await invokeAPI(name, method: method, body: body, parameters: parameters)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            guard let instant = Timestamp(text) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "not an instant")
                )
            }
            return Date(timeIntervalSince1970: Double(instant.milliseconds) / 1_000)
        }
        do {
            return try decoder.decode(type, from: Data(answer.body))
        } catch {
            // Its own words may quote the answer.
            let isPage = answer.contentType?.lowercased().contains("html") ?? false
            throw RemoteError(
                isPage ? .notTheService : .invalidResponse,
                "The answer of API '\(name)' does not fit \(type); compare it with what the service sends.",
                status: answer.status
            )
        }
    }

    /// Calls a custom API of the service and returns its answer as it came. Otherwise as the other one.
    ///
    /// - Throws: As the other one, whatever the answer's body is.
    @discardableResult
    public func invokeAPI(
        _ name: String,
        method: APIMethod = .post,
        body: (some Encodable & Sendable)? = String?.none,
        parameters: [String: String] = [:]
    ) async throws -> APIAnswer {
        let remote = try onlineRemote
        var call = APICall(name, method: method, parameters: parameters)
        if let body {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .custom { date, encoder in
                var container = encoder.singleValueContainer()
                guard let milliseconds = Int64(exactly: (date.timeIntervalSince1970 * 1_000).rounded()) else {
                    throw EncodingError.invalidValue(
                        date,
                        .init(codingPath: encoder.codingPath, debugDescription: "not an instant in whole milliseconds")
                    )
                }
                try container.encode(Timestamp(milliseconds: milliseconds).text)
            }
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                call.body = Array(try encoder.encode(body))
            } catch {
                throw SyncError(
                    .invalidParameter,
                    "The body for API '\(name)' cannot be written as JSON.",
                    cause: (error as? EncodingError)?.withoutValue ?? error
                )
            }
        }
        return try await remote.invokeAPI(call)
    }

    private var onlineRemote: any OnlineRemote {
        get throws(SyncError) {
            guard let online = remote as? any OnlineRemote else {
                throw SyncError(
                    .unsupported,
                    "This remote only syncs; online tables and custom APIs take one that conforms to OnlineRemote."
                )
            }
            return online
        }
    }
}

extension TableDefinition {
    /// The table of an item type; without columns where that cannot be described.
    fileprivate static func described<Item: TableItem>(by type: Item.Type, named name: String) -> TableDefinition
    where Item.ID: RowID {
        do {
            return try TableDefinition(type, named: name)
        } catch {
            // Its rows come as JSON has them, and the reading of one says what does not fit.
            return TableDefinition(name, columns: [])
        }
    }
}
