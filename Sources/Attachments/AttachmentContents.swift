public import Foundation
internal import RemoteContract
internal import Synchronization
internal import SyncContract

/// The content of a file in pieces of at most 64 KiB, decrypted as they are read: `for try await piece in attachments.contents(of: id)`.
///
/// A piece is read when it is asked for, so memory stays flat however slow the reader is. Each loop reads from the beginning.
/// A piece that is not what was written is never given: the loop ends with `StoreError` of code `damaged`, as with
/// ``SyncAttachments/data(of:upTo:)``.
public struct AttachmentContents: AsyncSequence, Sendable {
    /// A piece of the content, never empty.
    public typealias Element = Data
    /// As ``SyncAttachments/data(of:upTo:)``.
    public typealias Failure = any Error

    let open: @Sendable () async throws -> OpenAttachment

    /// Begins at the beginning. Nothing is read yet.
    public func makeAsyncIterator() -> Iterator { Iterator(open: open) }

    /// One reading of a file.
    public struct Iterator: AsyncIteratorProtocol {
        let open: @Sendable () async throws -> OpenAttachment
        private var file: OpenAttachment?
        private var chunk = 0
        private var hasEnded = false

        init(open: @escaping @Sendable () async throws -> OpenAttachment) { self.open = open }

        /// The next piece; nil behind the last one.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Data? {
            guard !hasEnded else { return nil }
            do {
                let file = if let file { file } else { try await open() }
                self.file = file
                guard chunk < file.layout.chunks, file.layout.length > 0 else {
                    end()
                    return nil
                }
                let content = try await file.content(of: chunk)
                chunk += 1
                return Data(content)
            } catch {
                end()
                throw error
            }
        }

        /// The same, for callers without a loop.
        public mutating func next() async throws(any Error) -> Data? { try await next(isolation: #isolation) }

        private mutating func end() {
            hasEnded = true
            file = nil
        }
    }
}

/// A file that is read by one task at a time, and its key as long as it is.
final class OpenAttachment: Sendable {
    let layout: SealedFileFormat.Layout
    private let reader: SealedFileReader
    private let gate: AttachmentGate
    /// Is called when a chunk is damaged, and says what the reader is told.
    private let damage: @Sendable () async -> StoreError

    init(
        _ reader: consuming SealedFileReader,
        _ gate: AttachmentGate,
        _ damage: @escaping @Sendable () async -> StoreError
    ) {
        layout = reader.layout
        self.reader = reader
        self.gate = gate
        self.damage = damage
    }

    func content(of chunk: Int) async throws -> [UInt8] {
        try gate.check()
        do {
            return try await FileWork.run { [self] _ in try reader.content(of: chunk) }
        } catch let error as StoreError where error.code == .damaged {
            throw await damage()
        }
    }
}

/// Whether files may be read: not while their store is locked, and not after it was closed.
final class AttachmentGate: Sendable {
    enum State { case open, locked, closed }

    private let state = Mutex(State.open)

    func set(_ new: State) { state.withLock { if $0 != .closed { $0 = new } } }

    func check() throws(StoreError) {
        switch state.withLock({ $0 }) {
        case .open: break
        case .locked: throw StoreError(.locked, "The store is locked; unlock it, then read the attachment again.")
        case .closed: throw StoreError(.closed, "The store was closed; open it again.")
        }
    }
}
