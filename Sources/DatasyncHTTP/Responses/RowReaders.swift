internal import RecordJSON
internal import SyncContract
internal import Synchronization

/// The readers of a remote's tables. What one answer has shown of its members is kept for the next: most of the time that an
/// answer with one row takes would be spent on finding out what its names mean.
final class RowReaders: Sendable {
    private let readers = Mutex<[String: RowReader]>([:])

    /// The reader of a table as it is declared now.
    func reader(of table: TableDefinition) -> RowReader {
        readers.withLock { readers in
            if let known = readers[table.name], known.table == table { return known }
            let reader = RowReader(table: table, learning: LearnedMembers())
            readers[table.name] = reader
            return reader
        }
    }
}

/// What the answers of a table have shown of its rows' members. Of several that are read at a time one has it, and the others
/// begin anew.
final class LearnedMembers: Sendable {
    private let decoder = Mutex<RecordDecoder?>(nil)

    /// Takes on what is known; nil while another answer is read, or when nothing is known.
    func take() -> RecordDecoder? {
        decoder.withLock { decoder in
            defer { decoder = nil }
            return decoder
        }
    }

    /// Keeps what is known for the next answer.
    func keep(_ learned: RecordDecoder) { decoder.withLock { $0 = learned } }
}

extension DatasyncRemote {
    /// What reads a table's rows.
    func reader(of table: TableDefinition) -> RowReader { readers.reader(of: table) }
}
