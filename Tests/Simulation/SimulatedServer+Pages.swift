internal import RemoteContract
internal import SyncContract

/// Paging, which is the remote's own affair: the engine keeps a text and gives it back.
extension SimulatedServer {
    /// How late a change may become visible, clocks that were set back included.
    static var settlingTime: Int64 { 200 }

    func page(
        of table: String,
        at position: PullPosition,
        _ pageSize: Int?
    ) throws(RemoteError) -> PullPage {
        let reader: PageReader
        switch position {
        case .everything: reader = .init(kind: .everything, bound: 0, after: .init(0, ""))
        case .changes(let cursor):
            let start = try cursor.map { (cursor) throws(RemoteError) in try place(in: cursor) } ?? 0
            reader = .init(
                kind: settings.pullsByStamp ? .stamp : .sequence,
                bound: max(start, clock - Self.settlingTime),
                after: .init(start - 1, "~")
            )
        case .next(let text):
            let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
            try checkEpoch(parts[0])
            reader = PageReader(parts[1]) ?? .init(kind: .everything, bound: 0, after: .init(0, ""))
        }
        let found = history.filter { $0.key.table == table && !$0.value.isGone }.values
            .map { row in (place: reader.place(of: row), row: row) }
            .filter { reader.after < $0.place }
            .sorted { $0.place < $1.place }
        let size = pageSize ?? max(1, found.count)
        var page = PullPage(records: found.prefix(size).map { record($0.row) })
        if found.count > size {
            var next = reader
            next.after = found[size - 1].place
            page.next = .next("\(epoch)/\(next.text)")
        }
        switch reader.kind {
        case .everything: break
        // Changes come in the order in which they were made, so what is here is complete.
        case .sequence: page.cursor = found.prefix(size).last.map { "\(epoch)/\($0.row.current.sequence + 1)" }
        case .stamp: if page.next == nil { page.cursor = "\(epoch)/\(reader.bound)" }
        }
        return page
    }

    /// Whether a pull in the order of the changes brings a version of a row from a cursor on.
    func mayBring(_ version: String?, of key: RowKey, after cursor: String) -> Bool {
        guard let start = cursor.split(separator: "/").last.flatMap({ Int($0) }) else { return true }
        return history[key]?.history.contains { $0.sequence >= start && $0.number == version } ?? false
    }

    private func place(in cursor: String) throws(RemoteError) -> Int64 {
        let parts = cursor.split(separator: "/").map(String.init)
        try checkEpoch(parts[0])
        return Int64(parts[1]) ?? 0
    }

    /// What was begun before the server was set up anew cannot go on.
    private func checkEpoch(_ text: String) throws(RemoteError) {
        if text != "\(epoch)" { throw RemoteError(.historyLost, "the server was set up anew") }
    }
}

/// Where in a pull a page lies, as text.
private struct PageReader {
    enum Kind: String {
        case everything
        case sequence
        case stamp
    }

    /// A row's place in the order of a pull.
    struct Place: Comparable {
        let number: Int64
        let id: String

        init(_ number: Int64, _ id: String) {
            self.number = number
            self.id = id
        }

        static func < (left: Place, right: Place) -> Bool { (left.number, left.id) < (right.number, right.id) }
    }

    let kind: Kind
    /// Where the next pull starts, by stamp.
    let bound: Int64
    var after: Place

    init(kind: Kind, bound: Int64, after: Place) {
        self.kind = kind
        self.bound = bound
        self.after = after
    }

    init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let kind = Kind(rawValue: parts[0]), let bound = Int64(parts[1]),
            let number = Int64(parts[2])
        else { return nil }
        self.init(kind: kind, bound: bound, after: Place(number, parts[3]))
    }

    var text: String { "\(kind.rawValue) \(bound) \(after.number) \(after.id)" }

    func place(of row: ServerRow) -> Place {
        switch kind {
        case .everything: Place(0, row.id)
        case .sequence: Place(Int64(row.current.sequence), row.id)
        case .stamp: Place(row.current.stamp, row.id)
        }
    }
}
