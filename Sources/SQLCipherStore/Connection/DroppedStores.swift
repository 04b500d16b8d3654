import Synchronization

/// The stores of this process that were dropped without being closed, until they are.
///
/// Who opens or works on one of them waits for that, instead of finding it in use.
package enum DroppedStores {
    private struct Closing {
        let id: Int
        let task: Task<Void, Never>
    }

    private struct State {
        var closings: [String: Closing] = [:]
        var nextID = 0
    }

    private static let state = Mutex(State())

    /// Closes the store with a database file, in a task of its own. It must be the one that has the lock.
    static func close(_ database: String, _ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.nextID += 1
            let id = state.nextID
            // Noted down before the task can end, which needs the mutex for that.
            let task = Task.detached {
                await body()
                remove(database, id)
            }
            state.closings[database] = Closing(id: id, task: task)
        }
    }

    /// Waits until a store that was dropped is closed. Returns at once when there is none.
    package static func closing(of database: String) async {
        await state.withLock { $0.closings[database]?.task }?.value
    }

    private static func remove(_ database: String, _ id: Int) {
        state.withLock { state in
            if state.closings[database]?.id == id { state.closings[database] = nil }
        }
    }
}
