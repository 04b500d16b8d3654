public import SyncContract

extension SyncTable<Record> {
    /// The server's id of a row; nil while the server has not given one, and for a row that is not known.
    ///
    /// Rows of tables whose server does not choose ids have the same id on both sides.
    public func serverID(of id: String) async throws -> String? {
        let table = definition
        guard table.assignsIDs else { return id }
        let translation = IdentifierTranslation(table, context.store.schema)
        return try await context.store.read { try translation.knownServerID(of: id, &$0) }
    }

    /// The local id of a row with an id of the server; nil for a row that never came, and to which none has referred.
    ///
    /// Rows of tables whose server does not choose ids have the same id on both sides.
    public func id(ofServerID serverID: String) async throws -> String? {
        let table = definition
        guard table.assignsIDs else { return serverID }
        let translation = IdentifierTranslation(table, context.store.schema)
        return try await context.store.read { reader in
            if let known = try IdentifierMapping.localIDs(ofServerIDs: [serverID], in: table, &reader).values.first {
                return known
            }
            return try translation.knownServerID(of: serverID, &reader) == serverID ? serverID : nil
        }
    }
}

extension SyncTable where Item: Codable, Item.ID: RowID {
    /// The server's id of an item; nil while the server has not given one, and for one that is not known.
    public func serverID(of id: Item.ID) async throws -> String? { try await table.serverID(of: id.text) }

    /// The id here of a row with an id of the server; nil for a row that never came, and to which none has referred.
    public func id(ofServerID serverID: String) async throws -> Item.ID? {
        try await table.id(ofServerID: serverID).flatMap { Item.ID(fieldValue: .string($0)) }
    }
}
