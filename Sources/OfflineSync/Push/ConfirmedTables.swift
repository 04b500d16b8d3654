internal import RemoteContract
internal import Synchronization
internal import SyncContract

/// The tables that have answered in one push or pull.
///
/// "There is no such row" is also what a wrong address says. It is believed of a table that is known to be there.
final class ConfirmedTables: Sendable {
    private let names = Mutex<Set<String>>([])
    private let silent = Mutex<Set<String>>([])

    /// Asks for the table, unless it has answered before.
    ///
    /// - Throws: What the remote throws; ``RemoteError`` with code `notFound` names the address.
    func confirm(_ table: TableDefinition, at remote: any SyncRemote) async throws {
        guard !names.withLock({ $0.contains(table.name) }) else { return }
        try await remote.confirm(table)
        names.withLock { _ = $0.insert(table.name) }
    }

    /// Whether a table answers now; one that did not is not asked again.
    func answers(_ table: TableDefinition, at remote: any SyncRemote) async throws -> Bool {
        guard !silent.withLock({ $0.contains(table.name) }) else { return false }
        do {
            try await remote.confirm(table)
            return true
        } catch is RemoteError {
            // Whatever it is: what came before says more.
            silent.withLock { _ = $0.insert(table.name) }
            return false
        }
    }
}
