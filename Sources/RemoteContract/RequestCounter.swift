internal import Synchronization

/// Counts the requests that one push or pull makes a remote send.
///
/// A remote may be shared by several contexts. So the count belongs to the work, not to the remote: it goes with the
/// task, and with those that the task starts.
public final class RequestCounter: Sendable {
    @TaskLocal private static var current: RequestCounter?

    private let requests = Atomic<Int>(0)
    private let firstNumbers = Mutex<[ObjectIdentifier: Int]>([:])

    /// What this is a part of; nil when it stands for itself.
    private let whole: RequestCounter?

    /// - Parameter whole: What the work is a part of, such as the push of a pull: the first numbers of objects are those of
    ///   the whole. It counts for itself.
    package init(partOf whole: RequestCounter? = nil) { self.whole = whole }

    /// How many requests were counted so far.
    package var count: Int { requests.load(ordering: .relaxed) }

    /// Counts one request for the push or pull that the calling task is part of; elsewhere this does nothing.
    ///
    /// For authors of remotes: to be called for every request, right before it is sent.
    public static func countRequest() { _ = current?.requests.add(1, ordering: .relaxed) }

    /// The number that was given first for an object by the push or pull that the calling task is part of, with all that this
    /// is a part of; this number when it is the first one, and elsewhere.
    package static func first(_ number: Int, for object: ObjectIdentifier) -> Int {
        guard let current else { return number }
        let whole = current.whole ?? current
        return whole.firstNumbers.withLock { numbers in
            defer { numbers[object] = numbers[object] ?? number }
            return numbers[object] ?? number
        }
    }

    /// Runs work that is not part of the push or pull whose task it is run in.
    package static func outside<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        try await $current.withValue(nil, operation: work)
    }

    /// The same for work that begins tasks and waits for none.
    package static func beginningOutside<Value>(_ work: () throws -> Value) rethrows -> Value {
        try $current.withValue(nil, operation: work)
    }

    /// Runs work whose requests are counted here, and no longer where they were counted before.
    package func counting<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        try await Self.$current.withValue(self, operation: work)
    }
}
