import Foundation
import SyncContract
import Synchronization

/// A place at which this process has a store open.
final class OpenPlace: Sendable {
    private static let open = Mutex<Set<String>>([])
    private let path: String

    init(_ url: URL) throws {
        path = url.path
        guard Self.open.withLock({ $0.insert(url.path).inserted }) else {
            throw StoreError(.inUse, "this store is open; close it first")
        }
    }

    deinit { _ = Self.open.withLock { $0.remove(path) } }
}
