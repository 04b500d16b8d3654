internal import RemoteContract
internal import SyncContract

/// Paging, which is the remote's own affair: the engine keeps a text and gives it back.
extension SimulatedServer {
    /// How late a change may become visible, clocks that were set back included.
    static var settlingTime: Int64 { 200 }

    func page(of table: String, at position: PullPosition, _ pageSize: Int?) -> PullPage {
        let reader: PageReader
        switch position {
        case .everything: reader = .init(kind: .everything, bound: 0, after: .init(0, ""))
        case .changes(let cursor):
            let start = cursor.flatMap { Int64($0) } ?? 0
            reader = .init(
                kind: settings.pullsByStamp ? .stamp : .sequence,
                bound: max(start, clock - Self.settlingTime),
                after: .init(start - 1, "~")
            )
        case .next(let text): reader = PageReader(text) ?? .init(kind: .everything, bound: 0, after: .init(0, ""))
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
            page.next = .next(next.text)
        }
        switch reader.kind {
        case .everything: break
        // Changes come in the order in which they were made, so what is here is complete.
        case .sequence: page.cursor = found.prefix(size).last.map { String($0.row.current.sequence + 1) }
        case .stamp: if page.next == nil { page.cursor = String(reader.bound) }
        }
        return page
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
