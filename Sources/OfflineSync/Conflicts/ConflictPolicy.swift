internal import Synchronization
internal import SyncContract

/// What is done about conflicts while a push runs: about changes of rows of which the server has another version, or
/// none. What the server refuses for other reasons is not its matter.
///
/// Everything that is decided by one is in ``SyncContext/journal()``, with what was given up.
public enum ConflictPolicy<Item: Sendable>: Sendable {
    /// They are stored until somebody settles them. The default.
    case store
    /// The change on this device wins, also over a deletion. What takes back a change that was given up is none: it does not go
    /// over a row that the server does not show.
    case clientWins
    /// The server's row wins, also when it is deleted.
    case serverWins
    /// A closure decides; it may ask the user, for as long as it takes: the push waits. Nil stores the conflict. An error
    /// stores it as well, and ends the push with that error, and so does a row that the table cannot hold; none of these is
    /// asked for again. When the push was cancelled
    /// before or meanwhile, or the process killed, the next push asks, at its beginning.
    case merge(@Sendable (TableOperationError<Item>) async throws -> ConflictResolution<Item>?)
}

extension ConflictPolicy {
    /// The same decided in items of another type.
    func mapped<Other>(
        _ error: @escaping @Sendable (TableOperationError<Other>) -> TableOperationError<Item>,
        _ resolution:
            @escaping @Sendable (
                ConflictResolution<Item>, TableOperationError<Other>
            ) throws -> ConflictResolution<Other>
    ) -> ConflictPolicy<Other> {
        switch self {
        case .store: .store
        case .clientWins: .clientWins
        case .serverWins: .serverWins
        case .merge(let decide):
            .merge { original in try await decide(error(original)).map { try resolution($0, original) } }
        }
    }
}

extension ConflictPolicy<Record> {
    /// Whether anything is decided by it.
    var decides: Bool { if case .store = self { false } else { true } }

    /// Whether a closure of the app's decides, which may be cancelled.
    var asks: Bool { if case .merge = self { true } else { false } }

    /// What is to be done about a conflict.
    func resolution(of error: TableOperationError<Record>) async throws -> ConflictResolution<Record>? {
        switch self {
        case .store: nil
        case .clientWins: .keepMine
        case .serverWins: .takeServer
        case .merge(let decide): try await decide(error)
        }
    }
}

/// The policies of a context. They are taken as they are when a conflict is met.
final class ConflictPolicies: Sendable {
    private struct Policies {
        var context = ConflictPolicy<Record>.store
        var tables: [String: ConflictPolicy<Record>] = [:]
    }

    private let policies = Mutex(Policies())

    var context: ConflictPolicy<Record> {
        get { policies.withLock(\.context) }
        set { policies.withLock { $0.context = newValue } }
    }

    /// Whether one of them decides anything.
    var decide: Bool {
        policies.withLock { $0.context.decides || $0.tables.values.contains(where: \.decides) }
    }

    subscript(table: String) -> ConflictPolicy<Record>? {
        get { policies.withLock { $0.tables[table] } }
        set { policies.withLock { $0.tables[table] = newValue } }
    }
}
