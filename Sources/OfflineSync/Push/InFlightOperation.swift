internal import SyncContract
internal import SyncMachines

/// An operation and what it sends, as of one instant.
///
/// It is handed on some twenty times until its answer is recorded. What it was prepared with is one object for that: to
/// copy it by value took as long as to write the request.
struct InFlightOperation: Sendable {
    private final class Prepared: Sendable {
        let operation: TableOperation
        let table: TableDefinition
        let written: WrittenOperation?
        let underWay: RequestUnderWay<Record>?
        let outgoing: OutgoingRequest?
        let awaited: [Int64]
        let references: OperationReferences?

        init(
            _ operation: TableOperation,
            _ table: TableDefinition,
            _ written: WrittenOperation?,
            _ underWay: RequestUnderWay<Record>?,
            _ outgoing: OutgoingRequest?,
            _ awaited: [Int64],
            _ references: OperationReferences?
        ) {
            self.operation = operation
            self.table = table
            self.written = written
            self.underWay = underWay
            self.outgoing = outgoing
            self.awaited = awaited
            self.references = references
        }
    }

    private let prepared: Prepared
    /// The number of the operation before which it is sent, whatever their order in the queue: one of the two rows
    /// refers to the other.
    var aheadOf: Int64?
    /// How often this push has sent the operation again.
    var repetitions = 0

    init(
        operation: TableOperation,
        table: TableDefinition,
        written: WrittenOperation? = nil,
        underWay: RequestUnderWay<Record>? = nil,
        outgoing: OutgoingRequest? = nil,
        awaited: [Int64] = [],
        references: OperationReferences? = nil
    ) {
        prepared = Prepared(operation, table, written, underWay, outgoing, awaited, references)
    }

    var operation: TableOperation { prepared.operation }
    var table: TableDefinition { prepared.table }
    /// The operation as it was stored before it was sent; nil when it was not.
    var written: WrittenOperation? { prepared.written }
    /// Nil when there is no row to send.
    var underWay: RequestUnderWay<Record>? { prepared.underWay }
    /// Whether it is stored that a tombstone may be shown as it is for this.
    var mayShowTombstone: Bool { prepared.underWay?.mayShowTombstone ?? true }
    /// The same in the server's ids.
    var outgoing: OutgoingRequest? { prepared.outgoing }
    /// The numbers of the inserts that have to be answered first, because the row refers to theirs.
    var awaited: [Int64] { prepared.awaited }
    /// Its item, and those that its row refers to.
    var references: OperationReferences? { prepared.references }
}
