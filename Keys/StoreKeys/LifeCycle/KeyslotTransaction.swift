import DurableFiles
import SecretMemory
import Synchronization

/// A change of a keyslot file: from the reading to the end of this object's life, nobody else changes it.
///
/// A change may consist of several writes, each of which is durable when it returns.
final class KeyslotTransaction: Sendable {
    private struct State: ~Copyable {
        var lock: FileLock
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

    /// The file as it is.
    var content: KeyslotFile { state.withLock { $0.content } }

    /// Writes the next revision of the file.
    ///
    /// - Throws: `KeyError` with code `inUse` or `io`; `CancellationError` if the task was cancelled before.
    func write(_ next: KeyslotFile) async throws {
        let bytes = try next.encoded()
        try await BlockingWork.run { [self] in
            try state.withLock { state in
                try file.replace(
                    with: bytes,
                    holding: &state.lock,
                    unlessChangedFrom: state.bytes,
                    random: random
                )
                state.content = next
                state.bytes = bytes
            }
        }
    }
}
