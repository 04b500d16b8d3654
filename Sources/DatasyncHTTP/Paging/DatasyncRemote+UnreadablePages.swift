internal import HTTPTransport
internal import RemoteContract
internal import SyncContract

/// How an answer failed that one row may have spoiled: some values are stored and then cannot be written as JSON, and
/// every page that holds the row is a 500, or breaks off in its middle.
private enum SpoiledAnswer: Equatable {
    case failure
    case brokenOff
    case noJSON

    init?(_ error: any Error) {
        switch error {
        case let error as RemoteError where error.status == 500: self = .failure
        case let error as RemoteError where error.code == .invalidResponse && error.cause is JSONError: self = .noJSON
        case let error as TransportError
        where error.code == .connectionLost && error.fate == .mayHaveBeenProcessed:
            self = .brokenOff
        default: return nil
        }
    }
}

extension DatasyncRemote {
    /// How many rows of a page may be unreadable. Where there are more, it is the server that fails.
    private static let mostUnreadableRows = 20

    /// How often the answer with a row has to break off before the row is blamed for it, and not the network.
    private static let mostBreaks = 4

    /// A page; row by row when one of its rows spoils it, with those that cannot be had set aside.
    ///
    /// - Throws: As ``read(_:of:)``.
    func readWithoutSpoiledRows(_ query: Query, of table: TableDefinition) async throws -> Answer {
        do {
            return try await readTwice(query, of: table)
        } catch {
            guard SpoiledAnswer(error) != nil else { throw error }
            return try await readRowByRow(query, of: table, after: error)
        }
    }

    /// Asks once more after an answer that may be spoiled: what fails twice in the same way fails for a reason that stays.
    private func readTwice(_ query: Query, of table: TableDefinition) async throws -> Answer {
        do {
            return try await read(query, of: table)
        } catch {
            // What broke off was asked for twice already, where the connection is.
            guard let failure = SpoiledAnswer(error), failure != .brokenOff else { throw error }
            return try await read(query, of: table)
        }
    }

    private func readRowByRow(
        _ query: Query,
        of table: TableDefinition,
        after failure: any Error
    ) async throws -> Answer {
        var answer: Answer
        do {
            answer = try await readWithoutContent(query, of: table)
        } catch let error where error is RemoteError || error is TransportError {
            throw failure
        }
        var unreadable = 0
        for index in answer.page.rows.indices {
            // Of a deleted row nothing else is wanted.
            if case .record(let row) = answer.page.rows[index].content, row.isDeleted { continue }
            let id = answer.page.rows[index].id
            let content = try await content(of: id, in: query.table, table)
            answer.page.rows[index].content = content
            switch content {
            case .unusable, .failed: unreadable += 1
            case .record, .vanished: break
            }
            guard unreadable <= Self.mostUnreadableRows else { throw failure }
        }
        return answer
    }

    /// The rows of a page without what may spoil it: whether each is deleted, unless the server keeps no deleted rows and refuses
    /// to say.
    private func readWithoutContent(_ query: Query, of table: TableDefinition) async throws -> Answer {
        do {
            return try await read(query.selecting(["updatedAt", "version", "deleted"]), of: table)
        } catch is RemoteError {
            return try await read(query.selecting(["updatedAt", "version"]), of: table)
        }
    }

    /// One row, asked for by a filter: an address cannot name every id that a server has.
    ///
    /// A row that is set aside is asked for once more, and comes with its next change only then. So one whose answer breaks off is to blame only when
    /// it does so again and again, and the row without its content gets through in between; where that breaks off as
    /// well, the pull ends, and the next one asks again.
    private func content(of id: RowKey, in name: String, _ table: TableDefinition) async throws -> ServerPage.Content {
        let query = Query(name).filtered(by: Column("id") == id.value)
        var breaks = 0
        while true {
            do {
                let rows = try await readTwice(query, of: table).page.rows
                return rows.first { $0.id == id }?.content ?? .vanished
            } catch {
                guard let failure = SpoiledAnswer(error) else { throw error }
                if failure == .brokenOff { breaks += 1 }
                guard failure == .brokenOff, breaks < Self.mostBreaks else {
                    return .failed("the server cannot hand it over; correct it there, and its log says more")
                }
                _ = try await read(query.selecting(["updatedAt", "version"]), of: table)
            }
        }
    }
}
