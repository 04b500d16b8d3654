internal import CBenchmarkTwin
internal import SyncContract

/// The rows as C arrays. They are written once, in the initializer, and live as long as the process: that is why they
/// can be shared.
@safe
struct TwinArrays: @unchecked Sendable {
    /// What an operation's `properties` hold for an insert.
    static let properties = "{\"type\":0}"

    let items: UnsafeMutableBufferPointer<twin_item>
    let operations: UnsafeMutableBufferPointer<twin_operation>

    /// How many rows there are.
    var count: Int { unsafe items.count }

    init(_ rows: [Workload.Item]) {
        unsafe items = .allocate(capacity: rows.count)
        unsafe operations = .allocate(capacity: rows.count)
        let table = unsafe Self.text(Workload.table.name)
        let properties = unsafe Self.text(Self.properties)
        for (index, row) in rows.enumerated() {
            let id = unsafe Self.text(row.id)
            unsafe items.initializeElement(
                at: index,
                to: twin_item(
                    id: id,
                    text: Self.text(row.text),
                    complete: row.complete,
                    priority: Int64(row.priority),
                    score: row.score,
                    due: row.dueMilliseconds
                )
            )
            unsafe operations.initializeElement(
                at: index,
                to: twin_operation(id: Int64(index + 1), table: table, item_id: id, properties: properties)
            )
        }
    }

    private static func text(_ string: String) -> twin_text {
        let bytes = UnsafeMutableBufferPointer<CChar>.allocate(capacity: string.utf8.count)
        _ = unsafe bytes.initialize(from: string.utf8.map(CChar.init(bitPattern:)))
        return unsafe twin_text(start: bytes.baseAddress, count: Int32(bytes.count))
    }
}
