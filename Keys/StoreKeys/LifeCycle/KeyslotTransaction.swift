import DurableFiles
import SecretMemory
import Synchronization

/// A change of a keyslot file: from the reading to ``end()``, nobody else changes it.
///
/// A change may consist of several writes, each of which is durable when it returns.
final class KeyslotTransaction: Sendable {
    private struct State: ~Copyable {
        /// The right to replace the file; `nil` while a write has it.
        var lock: FileLock?
        var content: KeyslotFile
        var bytes: [UInt8]
    }

    private let file: PrivateFile
    private let random: RandomSource
    private let state: Mutex<State>

    /// Locks and reads a file. Blocks, but never for long: a lock that somebody else has is `inUse`.
    init(
        _ file: PrivateFile,
        random: RandomSource
    ) throws {
        self.file = file
        self.random = random
        let lock = try file.lock(maximum: KeyslotFile.maximumSize)
        let bytes = try file.readBytes(maximum: KeyslotFile.maximumSize)
        state = try Mutex(State(lock: lock, content: KeyslotFile(decoding: bytes), bytes: bytes))
    }

    /// Lets others change the file. What would be written from now on is refused with `inUse`.
    ///
    /// Said, and not left to the end of this object's life: a thread that has done the last write may hold it for a moment
    /// longer.
    func end() { state.withLock { $0.lock = nil } }

    /// The file as it is.
    var content: KeyslotFile { state.withLock { $0.content } }

    /// Waits until every name in the file's folder is on the medium, that of the database beside it among them.
    ///
    /// Whoever was killed in a rotation may have renamed one of the two and not come to that. What is renamed next must not
    /// get to the medium before it: after a loss of power the database would be under a key that the file does not have.
    func synchronizeFolder() async throws {
        try await BlockingWork.run { [file] in try file.synchronizeFolder() }
    }

    /// Writes the next revision of the file.
    ///
    /// - Throws: `KeyError` with code `inUse` or `io`; `CancellationError` if the task was cancelled before.
    func write(_ next: KeyslotFile) async throws {
        try await BlockingWork.run { [self] in try writeBlocking(next) }
    }

    /// The same, where an error says what is in force when the file was replaced, and only its name may not be on the medium.
    func write(_ next: KeyslotFile, inForce effect: String) async throws {
        do {
            try await write(next)
        } catch let error as KeyError where error.cause is UnprovenReplacement {
            throw KeyError(error.code, "\(effect): do not repeat the call. \(error.message)", cause: error.cause)
        }
    }

    /// The same, on the thread of the caller, who may wait for the medium.
    func writeBlocking(_ next: KeyslotFile) throws {
        let bytes = try next.encoded()
        var lock: FileLock?
        let expected = state.withLock { state in
            lock = state.lock.take()
            return state.bytes
        }
        guard lock != nil else { throw file.inUse() }
        // The mutex guards memory and is not held from here on, since this waits for the medium.
        defer { state.withLock { $0.lock = lock.take() } }
        try file.replace(with: bytes, holding: &lock!, unlessChangedFrom: expected, random: random)
        state.withLock { state in
            state.content = next
            state.bytes = bytes
        }
    }
}
