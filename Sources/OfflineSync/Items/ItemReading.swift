internal import ItemCoding
internal import Synchronization
internal import SyncContract

/// Makes items of the rows of one table. A row that the type cannot be made from is left out and told.
struct ItemReading<Item: Decodable> {
    let definition: TableDefinition
    private let decoder: RecordDecoder

    /// A row that was left out, and why.
    typealias LeftOut = (id: RecordID, error: SyncError)

    init(_ definition: TableDefinition) {
        self.definition = definition
        decoder = RecordDecoder(definition)
    }

    /// The item of a row.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItem``, what the type throws, `MissingSyncState`.
    func item(_ record: Record) throws -> Item {
        try reportingUnfitItems { try decoder.decode(Item.self, from: record) }
    }

    /// The items of rows that have one, and those that were left out.
    ///
    /// - Throws: `MissingSyncState`, when nothing was told yet.
    func items(_ records: some Sequence<Record>) throws(MissingSyncState) -> (items: [Item], leftOut: [LeftOut]) {
        var (items, leftOut): ([Item], [LeftOut]) = ([], [])
        items.reserveCapacity(records.underestimatedCount)
        for record in records {
            switch try result(record) {
            case .success(let item): items.append(item)
            case .failure(let error): leftOut.append((record.id, error))
            }
        }
        return (items, leftOut)
    }

    /// The item of a row, or why it has none.
    ///
    /// - Throws: `MissingSyncState`: the row has to be read with its state.
    func result(_ record: Record) throws(MissingSyncState) -> Result<Item, SyncError> {
        do {
            return .success(try item(record))
        } catch let error as MissingSyncState {
            throw error
        } catch let error as SyncError where error.code == .invalidItem {
            return .failure(error)
        } catch {
            // Its own words may quote the row.
            return .failure(
                SyncError(
                    .invalidItem,
                    "A row of '\(definition.name)' cannot be made a \(Item.self): the type has thrown \(type(of: error))."
                        + " Let it take what the table holds.",
                    cause: error
                )
            )
        }
    }
}

/// Items are the engine's matter here: what does not fit is its error, not the store's.
func reportingUnfitItems<Value>(_ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let error as StoreError where error.code == .invalidItem {
        throw SyncError(.invalidItem, error.message, cause: error.cause)
    }
}

extension SyncEvents {
    /// Tells rows that were left out of what was read.
    func tell(_ leftOut: [(id: RecordID, error: SyncError)], of table: String) {
        let untold = RowsToldByClosure.current?.news(leftOut, of: table) ?? leftOut
        for row in untold { send(.itemLeftOut(table: table, id: row.id, reason: row.error.message)) }
    }
}

/// The rows that a live query has left out of its last result: it tells each once, and again when its reason is another.
final class ToldRows: Sendable {
    private let told = Mutex<[RecordID: String]>([:])

    /// What was not told yet.
    func news(_ leftOut: [(id: RecordID, error: SyncError)]) -> [(id: RecordID, error: SyncError)] {
        told.withLock { told in
            let before = told
            told = Dictionary(leftOut.map { ($0.id, $0.error.message) }) { first, _ in first }
            return leftOut.filter { before[$0.id] != $0.error.message }
        }
    }
}

/// The same for the closure of a live query, which may read several tables, and parts of one, which say nothing of the rest.
final class RowsToldByClosure: Sendable {
    /// Those of the closure that is running.
    @TaskLocal static var current: RowsToldByClosure?

    private let told = Mutex<[String: [RecordID: String]]>([:])

    /// What was not told yet.
    func news(
        _ leftOut: [(id: RecordID, error: SyncError)],
        of table: String
    ) -> [(id: RecordID, error: SyncError)] {
        told.withLock { told in
            leftOut.filter {
                told[table, default: [:]].updateValue($0.error.message, forKey: $0.id) != $0.error.message
            }
        }
    }
}
