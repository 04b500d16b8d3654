internal import RemoteContract
internal import SyncContract
internal import SyncMachines

/// Requests to servers that choose ids.
extension RequestSender {
    /// How many pages are looked through for a row with one content.
    private static let mostPages = 200

    /// Inserts a row; the recorder of the answer takes note of its id.
    func insertWithoutID(_ row: Record, into table: TableDefinition) async throws -> PushAnswer {
        do {
            return PushAnswer(.taken(try await remote.insert(row, into: table)))
        } catch let error as RemoteError where error.code == .conflict {
            // No row can have the id of one that has none: something else about it is taken.
            return PushAnswer(.refused(provesNothingWasDone: true), error)
        }
    }

    /// Looks up the row that an insert may have made: by its id where that is known, otherwise by its content.
    func lookUpInsert(
        _ outgoing: OutgoingRequest,
        in table: TableDefinition,
        ifAbsent absent: ItemAnswer<Record>
    ) async throws -> PushAnswer {
        if let id = outgoing.serverID {
            return try await lookUp(id, in: table) ?? PushAnswer(absent)
        }
        var answer = PushAnswer(absent)
        answer.candidates = []
        for insert in outgoing.inserted {
            let (rows, isWhole) = try await rows(like: insert, in: table)
            answer.candidates? += rows
            guard !isWhole else { continue }
            // What was not looked at may be the row: to insert it again could make a second one.
            answer.answer = .failed
            answer.error = RemoteError(
                .serverFailure,
                "Whether an earlier insert into table '\(table.name)' has arrived is not known: more than"
                    + " \(Self.mostPages) pages of rows look like it. Tell the item apart by one of its texts or whole"
                    + " numbers, or give the change up and insert it anew."
            )
        }
        return answer
    }

    /// The server's rows that have a row's texts, whole numbers and truth values; the rest is compared here.
    private func rows(
        like insert: OutgoingRequest.Inserted,
        in table: TableDefinition
    ) async throws -> (rows: [Record], isWhole: Bool) {
        let conditions = table.columns
            .compactMap { column -> QueryPredicate? in
                guard !column.isLocal, let value = insert.content[column.name] else { return nil }
                if let own = insert.own[column.name], own != value {
                    return Column(column.name).isAny(of: [value, own])
                }
                switch value {
                // Some servers take no longer addresses.
                case .string(let text) where text.utf8.count <= 200: return Column(column.name) == value
                case .int64, .bool: return Column(column.name) == value
                default: return nil
                }
            }
        let all = Query(table.name)
        guard !conditions.isEmpty else { return try await rows(of: all, in: table) }
        do {
            return try await rows(of: all.filtered(by: .all(Array(conditions.prefix(8)))), in: table)
        } catch let error as RemoteError where error.code == .refused || error.code == .invalidRequest {
            // It does not know a column, or wants shorter questions. That says nothing about the insert.
            return try await rows(of: all, in: table)
        }
    }

    private func rows(
        of query: Query,
        in table: TableDefinition
    ) async throws -> (rows: [Record], isWhole: Bool) {
        var rows: [Record] = []
        var position: PullPosition? = .everything
        for _ in 0..<Self.mostPages {
            guard let current = position else { return (rows, true) }
            let page = try await remote.page(query, of: table, at: current, pageSize: nil)
            rows += page.records
            position = page.next
        }
        return (rows, position == nil)
    }
}
