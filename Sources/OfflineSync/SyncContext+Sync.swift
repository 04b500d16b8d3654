public import SyncContract

extension SyncContext {
    /// Sends what waits, then brings what changed in all tables of the schema but those that are local only. With
    /// ``SyncOptions/order`` `pullFirst` it is the other way round; with `pullOnly`, which is about pulls, it sends all the same.
    ///
    /// What the server did not take is stored, named in the report, and does not stop the pull. Nor does it when the server forbids
    /// all that waits (403): the error of the push is thrown behind the pull then, and what came is in it.
    ///
    /// - Returns: What was sent, and what came.
    /// - Throws: As ``push(_:)`` and ``pull(_:_:options:)``. What was done before stays.
    public func sync() async throws -> SyncReport {
        let tables = try store.schema.syncedTables.map { try table($0.name) }
        guard order != .pullFirst else {
            let pull = try await pull(tables, .init())
            if let push = pull.push { return SyncReport(push: push, pull: pull) }
            return SyncReport(push: try await reportOfNothingSent(), pull: pull)
        }
        var forbidden: SyncError?
        var push = PushReport()
        do {
            push = try await pushTellingApp()
        } catch let error as SyncError where error.isOfForbiddenChanges {
            // Who may not write may read.
            (forbidden, push) = (error, error.push ?? push)
        } catch {
            throw error.ofApp
        }
        do {
            let pull = try await pull(tables, .init(order: .pullOnly))
            if var forbidden {
                forbidden.pull = pull
                throw forbidden
            }
            return SyncReport(push: push, pull: pull)
        } catch var error as SyncError {
            // What was sent has arrived, whatever became of the rest.
            error.push = push
            throw error
        }
    }

    /// The report of a push that had nothing to send: what earlier ones have left is in it all the same.
    package func reportOfNothingSent() async throws -> PushReport {
        let schema = store.schema
        var report = PushReport()
        report.notTaken(try await store.read { try OperationErrorCoding.all(&$0, schema) })
        return report
    }
}

/// What a sync did.
public struct SyncReport: Sendable {
    /// What was sent.
    public internal(set) var push: PushReport

    /// What came.
    public internal(set) var pull: PullReport
}

extension SyncReport {
    /// Whether everything was done; otherwise a bound was met, and the next sync goes on from there.
    public var isComplete: Bool { pull.isComplete }

    /// What the server did not take.
    public var notTaken: [TableOperationError<Record>] { push.notTaken }
}

extension SyncReport: CustomStringConvertible {
    /// The numbers in words; never what is in a row.
    public var description: String { "push: \(push); pull: \(pull.numbers)" }
}
