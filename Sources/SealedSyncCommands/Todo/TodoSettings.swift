internal import Foundation
internal import SealedSync

/// What a to-do store remembers about its server, inside the encrypted database.
struct TodoSettings: Codable, Identifiable, Sendable {
    var id = "settings"
    var server: String
    var protocolNumber: Int
    var table: String
    var allowsInsecureHTTP: Bool

    /// The local table of the settings. It is never synced.
    static let table = TableDefinition(
        "TodoSettings",
        columns: [
            .init("server", .string), .init("protocolNumber", .int64), .init("table", .string),
            .init("allowsInsecureHTTP", .bool),
        ],
        systemProperties: []
    )

    /// The table of the to-dos.
    var todoTable: TableDefinition {
        TableDefinition(
            table,
            columns: [.init("text", .string), .init("complete", .bool)],
            idComparison: protocolNumber == 2 ? .asciiCaseInsensitive : .exact
        )
    }

    /// Both tables.
    var schema: StoreSchema { get throws { try StoreSchema([Self.table, todoTable]) } }

    /// The adapter for the server, or for another one on this call.
    func remote(server override: String?, _ network: NetworkOptions? = nil) throws -> DatasyncRemote {
        try ServerAddress(
            override ?? server,
            protocolNumber: protocolNumber,
            allowsInsecureHTTP: allowsInsecureHTTP,
            // Someone is waiting at a terminal.
            timeout: network?.timeout ?? 20,
            certificateFile: network?.certificates.certificateFile,
            allowing: "make the store with --allow-insecure-http"
        )
        .remote
    }
}

extension TodoSettings {
    /// The settings as a row of their table.
    var record: Record {
        Record(
            id: .string(id),
            [
                "server": .string(server), "protocolNumber": .int64(Int64(protocolNumber)), "table": .string(table),
                "allowsInsecureHTTP": .bool(allowsInsecureHTTP),
            ]
        )
    }

    /// Reads the row.
    init(_ record: Record?) throws {
        guard let record, let server = record["server"]?.stringValue, let table = record["table"]?.stringValue,
            let protocolNumber = record["protocolNumber"]?.int64Value
        else {
            throw ToolError(
                "notFound",
                "this store was not made by 'sealedsync todo init', or that was interrupted; make one in a new folder"
            )
        }
        self.init(
            server: server,
            protocolNumber: Int(protocolNumber),
            table: table,
            allowsInsecureHTTP: record["allowsInsecureHTTP"]?.boolValue ?? false
        )
    }
}
