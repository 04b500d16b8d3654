public import SyncContract

/// A remote whose tables can also be worked with directly, row by row and query by query, and which may offer calls that
/// are no tables. Remotes that only sync need none of this.
public protocol OnlineRemote: SyncRemote {
    /// One page of a query's rows, in the query's order.
    ///
    /// - Parameters:
    ///   - query: What to read: predicate, order, limit, offset, selection and total count count.
    ///   - table: The table.
    ///   - includesDeleted: Whether tombstones are rows as well.
    /// - Returns: As many rows as the server gives at a time, at most the query's limit. It may be none although others
    ///   follow: then ``RemotePage/nextOffset`` says where.
    /// - Throws: ``RemoteError``, with code ``RemoteError/Code/invalidResponse`` for a page without rows that others follow
    ///   where the server does not say where they are.
    func page(_ query: Query, of table: TableDefinition, includesDeleted: Bool) async throws -> RemotePage

    /// This remote with further parameters for the service in every request of its tables; a remote that has none refuses.
    ///
    /// - Parameter parameters: The parameters by name.
    /// - Returns: The remote.
    /// - Throws: ``RemoteError`` with code ``RemoteError/Code/invalidRequest`` for one that is the protocol's own, and where
    ///   there are none.
    func adding(parameters: [String: String]) throws -> any OnlineRemote

    /// Calls a custom API of the service, with the same credentials as tables.
    ///
    /// - Returns: The answer, when its status is from 200 to 299.
    /// - Throws: ``RemoteError``: ``RemoteError/Code/refused`` for any other status from 400 to 499 that has no code of its
    ///   own, conflicts included, for they are not about rows.
    func invokeAPI(_ call: APICall) async throws -> APIAnswer
}

/// How a custom API is called.
public enum APIMethod: String, Sendable, Hashable, CaseIterable {
    /// Asks for something, and sends no body.
    case get = "GET"
    /// Does something; never sent twice.
    case post = "POST"
    /// Replaces something; never sent twice.
    case put = "PUT"
    /// Changes a part of something; never sent twice.
    case patch = "PATCH"
    /// Removes something; never sent twice.
    case delete = "DELETE"
}

/// A call of a custom API.
public struct APICall: Sendable, Hashable {
    /// The API's name; segments of a longer path are separated by slashes.
    public var name: String

    /// The method.
    public var method: APIMethod

    /// The parameters of the address, by name.
    public var parameters: [String: String]

    /// JSON to send; nil sends no body.
    public var body: [UInt8]?

    /// Creates a call.
    public init(_ name: String, method: APIMethod = .post, parameters: [String: String] = [:], body: [UInt8]? = nil) {
        self.name = name
        self.method = method
        self.parameters = parameters
        self.body = body
    }
}

/// What a custom API answered.
public struct APIAnswer: Sendable, Hashable {
    /// The HTTP status, from 200 to 299.
    public var status: Int

    /// What kind of content the body is, as the server says it.
    public var contentType: String?

    /// The body; empty when there is none.
    public var body: [UInt8]

    /// Creates an answer.
    public init(status: Int, contentType: String?, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}

extension OnlineRemote {
    /// Refuses them.
    public func adding(parameters: [String: String]) throws -> any OnlineRemote {
        guard !parameters.isEmpty else { return self }
        throw RemoteError(.invalidRequest, "This remote takes no further parameters; leave them out.")
    }

    /// Changes some columns of a row and leaves the others as they are.
    ///
    /// A server that replaces whole rows is asked for the row first. Without a version, what others change at the same
    /// time stays: the row is read and changed again, at most five times.
    ///
    /// - Parameters:
    ///   - id: The row's id.
    ///   - fields: The columns to change; null clears.
    ///   - table: The table.
    ///   - version: The server version that the change is based on; nil for whatever the server has.
    /// - Returns: The row as the server keeps it now.
    /// - Throws: As ``SyncRemote/update(_:in:version:restoring:)``; ``RemoteError`` with code
    ///   ``RemoteError/Code/invalidRequest`` when the table declares none of the columns and the server is sent declared ones
    ///   alone, and ``RemoteError/Code/invalidResponse`` when the row that is to be changed does not fit the table. Nothing is
    ///   written then.
    public func patch(
        _ id: String,
        _ fields: [String: FieldValue],
        in table: TableDefinition,
        version: String?
    ) async throws -> Record {
        guard replacesWholeRows else {
            // To such a server a row without any of its columns says that all of them are empty.
            guard table.columns.contains(where: { !$0.isLocal && fields[$0.name] != nil }) else {
                throw RemoteError(
                    .invalidRequest,
                    "The change of a row names no column that table '\(table.name)' declares; declare those that change."
                )
            }
            return try await update(Record(id: .string(id), fields), in: table, version: version, restoring: false)
        }
        var attempts = 5
        while true {
            attempts -= 1
            var row = try await rowToChange(id, in: table)
            guard !row.isDeleted, version == nil || row.version == version else {
                throw RemoteError(
                    .conflict,
                    row.isDeleted
                        ? "The row of table '\(table.name)' is deleted on the server; bring it back first."
                        : "The server has another version of the row in table '\(table.name)'; resolve the conflict.",
                    serverRecord: row
                )
            }
            for (name, value) in fields { row[name] = value }
            do {
                return try await update(row, in: table, version: row.version, restoring: false)
            } catch let error as RemoteError where error.code == .conflict && version == nil && attempts > 0 {
                continue
            }
        }
    }

    /// Brings a deleted row back with the content it has. A row that is not deleted is returned as it is.
    ///
    /// The content is that of the table's columns, which have to be able to hold it.
    ///
    /// - Parameters:
    ///   - id: The row's id.
    ///   - table: The table.
    ///   - version: The tombstone's version; nil for whatever the server has.
    /// - Returns: The row as the server keeps it now.
    /// - Throws: As ``SyncRemote/update(_:in:version:restoring:)``; ``RemoteError`` with code
    ///   ``RemoteError/Code/invalidResponse`` when the row does not fit the table. Nothing is written then.
    public func undelete(_ id: String, in table: TableDefinition, version: String?) async throws -> Record {
        let row = try await rowToChange(id, in: table)
        guard version == nil || row.version == version else {
            throw RemoteError(
                .conflict,
                "The server has another version of the row in table '\(table.name)'; resolve the conflict.",
                serverRecord: row
            )
        }
        guard row.isDeleted else { return row }
        return try await update(row, in: table, version: row.version, restoring: true)
    }

    /// The row that a change begins with, whole if it is a tombstone.
    ///
    /// - Throws: `RemoteError` with code `notFound` when there is none. With `invalidResponse` when it does not fit the table:
    ///   that code's own name would say that the row was written.
    package func rowToChange(_ id: String, in table: TableDefinition) async throws -> Record {
        do {
            let row = try await TombstoneContent.$isWanted.withValue(true) { try await record(id, in: table) }
            guard let row else { throw Self.missing(in: table) }
            return row
        } catch let error as RemoteError where error.code == .unfitRow {
            throw RemoteError(
                .invalidResponse,
                "The row that is to be changed does not fit table '\(table.name)', and nothing was written; correct it on"
                    + " the server, or declare its columns as they are there.",
                status: error.status,
                serverRecord: error.serverRecord,
                cause: error,
                exchange: error.exchange
            )
        }
    }

    private static func missing(in table: TableDefinition) -> RemoteError {
        RemoteError(.notFound, "The server has no such row in table '\(table.name)', or no such table.")
    }
}
