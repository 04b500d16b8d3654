internal import RemoteContract
internal import SyncContract

/// A page as it came. Rows that do not fit are in it with what paging needs of them: it goes on from their ids and stamps.
struct ServerPage: Sendable {
    struct Row: Sendable {
        var id: RowKey
        /// `updatedAt` in milliseconds, rounded down; nil when the row has none.
        var stamp: Int64?
        var content: Content
    }

    enum Content: Sendable {
        case record(Record)
        /// Why the row is set aside.
        case unusable(String)
        /// Why it is, when the server may have failed for a while only.
        case failed(String)
        /// Deleted for good while it was looked for.
        case vanished
    }

    var rows: [Row]
    var isKnownToBeLast: Bool
    var totalCount: Int?
    /// Whether the page certainly has all the rows that the server has read for it.
    var isWhole = false
    /// The `$skip` of the link to the next page.
    var nextOffset: Int?

    /// The rows that are none of those with some ids.
    func rows(besides ids: [String]) -> [Row] {
        let known = Set(ids.map { RowKey.text($0) })
        return rows.filter { !known.contains(.text($0.id.text)) }
    }

    /// Whether it has rows besides those with some ids, or counts more than these are.
    func goesBeyond(_ ids: [String]) -> Bool {
        if let totalCount, totalCount > Set(ids.map { RowKey.text($0) }).count { return true }
        return !rows(besides: ids).isEmpty
    }

    var records: [Record] {
        rows.compactMap { if case .record(let record) = $0.content { record } else { nil } }
    }

    var setAside: [SetAsideRow] {
        rows.compactMap { row in
            switch row.content {
            case .record, .vanished: return nil
            case .unusable(let reason): return SetAsideRow(id: row.id.text, reason: reason)
            case .failed(let reason):
                var row = SetAsideRow(id: row.id.text, reason: reason)
                row.mayPass = true
                return row
            }
        }
    }
}

/// An id as the server has it, compared as those of records are. Unlike those it may be empty.
enum RowKey: Sendable, Hashable, Codable {
    case text(String)
    case number(Int64)

    init(_ id: RecordID) {
        switch id {
        case .string(let text): self = .text(text)
        case .int64(let number): self = .number(number)
        }
    }

    /// An id as most are.
    static let sample = RowKey.text("00000000-0000-0000-0000-000000000000")

    var value: FieldValue {
        switch self {
        case .text(let text): .string(text)
        case .number(let number): .int64(number)
        }
    }

    var text: String {
        switch self {
        case .text(let text): text
        case .number(let number): String(number)
        }
    }

    /// Compares kind and content, texts by their UTF-8 bytes: servers keep ids apart that Swift's texts do not.
    static func == (left: RowKey, right: RowKey) -> Bool { left.value == right.value }

    /// Hashes what `==` compares.
    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
