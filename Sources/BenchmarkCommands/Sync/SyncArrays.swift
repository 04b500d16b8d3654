internal import CBenchmarkTwin
internal import SyncContract

/// Rows as C arrays, with an operation for each. Nothing writes to them after the initializer, and they are freed with the
/// object: that is why it can be shared.
@safe
final class SyncArrays: @unchecked Sendable {
    let items: UnsafeMutableBufferPointer<twin_synced_item>
    let operations: UnsafeMutableBufferPointer<twin_operation>
    private let texts: UnsafeMutableBufferPointer<CChar>

    /// How many rows there are.
    var count: Int { unsafe items.count }

    /// Makes the arrays.
    ///
    /// - Parameters:
    ///   - rows: The rows.
    ///   - first: The place of the first one among those of its kind.
    ///   - operation: The number of the first operation.
    init(_ rows: [Workload.Item], first: Int = 0, operation: Int = 1) {
        let (table, properties) = (SyncWorkload.table().name, TwinArrays.properties)
        let versions = rows.indices.map { SyncWorkload.version(first + $0) }
        let size = zip(rows, versions)
            .reduce(table.utf8.count + properties.utf8.count) {
                $0 + $1.0.id.utf8.count + $1.0.text.utf8.count + $1.1.utf8.count
            }
        unsafe items = .allocate(capacity: rows.count)
        unsafe operations = .allocate(capacity: rows.count)
        unsafe texts = .allocate(capacity: size)
        var used = 0
        func text(_ string: String) -> twin_text {
            let start = used
            for byte in string.utf8 {
                unsafe texts.initializeElement(at: used, to: CChar(bitPattern: byte))
                used += 1
            }
            return unsafe twin_text(start: texts.baseAddress.map { unsafe $0 + start }, count: Int32(used - start))
        }
        let (tableText, propertiesText) = unsafe (text(table), text(properties))
        for (place, row) in rows.enumerated() {
            let id = unsafe text(row.id)
            unsafe items.initializeElement(
                at: place,
                to: twin_synced_item(
                    item: twin_item(
                        id: id,
                        text: text(row.text),
                        complete: row.complete,
                        priority: Int64(row.priority),
                        score: row.score,
                        due: row.dueMilliseconds
                    ),
                    updated_at: SyncWorkload.stamp(first + place),
                    version: text(versions[place])
                )
            )
            unsafe operations.initializeElement(
                at: place,
                to: twin_operation(
                    id: Int64(operation + place),
                    table: tableText,
                    item_id: id,
                    properties: propertiesText
                )
            )
        }
    }

    deinit {
        unsafe items.deallocate()
        unsafe operations.deallocate()
        unsafe texts.deallocate()
    }
}
