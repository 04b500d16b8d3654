import Foundation
import SyncContract
import Synchronization

/// A place at which this process has a store open.
final class OpenPlace: Sendable {
    private static let open = Mutex<Set<String>>([])
    private let path: String
    /// Of the file whose lock keeps other processes out; nil when nothing does.
    private let lock: Int32?

    init(_ url: URL, keepsProcessesOut: Bool = true) throws {
        guard Self.open.withLock({ $0.insert(url.path).inserted }) else { throw Self.inUse }
        path = url.path
        do {
            lock = keepsProcessesOut ? try Self.locked(url.appendingPathExtension("lock").path) : nil
        } catch {
            _ = Self.open.withLock { $0.remove(url.path) }
            throw error
        }
    }

    /// A program that this process is just starting has a duplicate of the descriptor until it runs: unlocking lifts the lock
    /// for both.
    deinit {
        if let lock {
            flock(lock, LOCK_UN)
            close(lock)
        }
        _ = Self.open.withLock { $0.remove(path) }
    }

    private static var inUse: StoreError { StoreError(.inUse, "this store is open; close it first") }

    private static func locked(_ path: String) throws -> Int32 {
        let lock = unsafe Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw StoreError(.inputOutput, "the file of the lock cannot be opened") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw inUse
        }
        return lock
    }
}
