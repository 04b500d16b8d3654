internal import ConformanceRunner
internal import QueryGenerator
internal import SyncContract

/// Random rows and queries of one table, and random numbers besides, all from one seed.
struct RandomRows {
    var random: SeededRandom
    private var queries: RandomQueries
    private let table: TableDefinition

    init(_ random: SeededRandom, _ table: TableDefinition = .items) {
        var random = random
        queries = RandomQueries(table, .everything, seed: random.next())
        self.random = random
        self.table = table
    }

    /// A value of a type, never null.
    mutating func value(_ type: ColumnType) -> FieldValue { queries.value(type) }

    /// A record with all columns, or with some of them.
    mutating func record(_ id: RecordID, columnsIn percent: Int = 100) -> Record {
        var record = Record(id: id)
        for column in table.allColumns where random.chance(percent) {
            record[column.name] = random.chance(20) ? .null : value(column.type)
        }
        return record
    }

    /// A query that is likely to find some of the rows.
    mutating func query(over rows: [Record] = []) -> Query {
        queries.rows = rows
        return queries.query()
    }
}
