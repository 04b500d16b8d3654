public import Foundation
internal import OfflineSync
public import RemoteContract
internal import SyncContract

/// Files beside rows: encrypted in the store's folder, sent after the row that names them, fetched when asked for.
///
/// Add the file, then put its id into a row: a property of type `AttachmentID`. A file is sent when the server has taken such
/// a row. It is removed on this device a day after the last row that named it has gone, and on the server when the app says
/// so, or with its row where the column is declared to own it (`.owns(\.photo)`).
///
/// Files travel by themselves as long as the store is open, a few at a time, and are tried again after failures; what was sent
/// or fetched in part goes on from there, also after a restart. A direction that the context's session suspends stops here,
/// too. Under ``/OfflineSync/AttachmentOptions/spaceLimit`` files that are on the server, too, make room for others. With
/// ``/OfflineSync/AttachmentOptions/ahead`` files are fetched when rows arrive that name them, as far as there is room; they make
/// way for whatever somebody waits for, and for what is to be sent.
public final class SyncAttachments: Sendable {
    let core: AttachmentCore?

    init(_ core: AttachmentCore?) { self.core = core }

    /// Takes a file in, encrypted, in constant memory; the original stays.
    ///
    /// - Parameter url: A file on this device.
    /// - Returns: The name for it, which a row is to have within a day.
    /// - Throws: `StoreError` with code `notFound` when there is no such file, `full` when there is no space, `readOnly`,
    ///   `inputOutput`, `locked`, `closed`; ``/OfflineSync/SyncError`` with code `unsupported` for a context without
    ///   attachments. `CancellationError`, after which there is nothing.
    public func add(contentsOf url: URL) async throws -> AttachmentID {
        let source = try FileSource(url)
        return try await opened().add { try source.next() }
    }

    /// Takes bytes in.
    ///
    /// - Returns: The name for them, which a row is to have within a day.
    /// - Throws: As ``add(contentsOf:)``.
    public func add(_ data: Data) async throws -> AttachmentID {
        let source = DataSource(data)
        return try await opened().add { source.next() }
    }

    /// The content in pieces, decrypted as they are read; fetched from the server first when it is not here.
    public func contents(of id: AttachmentID) -> AttachmentContents {
        AttachmentContents { [core] in
            guard let core else { throw Self.unavailable }
            return try await core.open(id)
        }
    }

    /// The whole content, fetched from the server first when it is not here.
    ///
    /// - Parameters:
    ///   - id: The file.
    ///   - limit: How many bytes it may have at most; 64 MiB unless given.
    /// - Returns: The content.
    /// - Throws: As ``fetch(_:)``; `StoreError` with code `outOfRange` when it is longer than the limit, `damaged` when it is
    ///   not what was written. Where the server has it, it counts as not here from then on, and is fetched again: by itself, by
    ///   ``fetch(_:)``, or when it is read next. Else what there is stays.
    public func data(of id: AttachmentID, upTo limit: Int = 64 << 20) async throws -> Data {
        let file = try await opened().open(id)
        guard file.layout.length <= limit else {
            throw StoreError(
                .outOfRange,
                "The attachment has \(file.layout.length) bytes and \(limit) are allowed; read it in pieces: contents(of:)."
            )
        }
        var data = Data(capacity: Int(file.layout.length))
        for chunk in 0..<file.layout.chunks { data.append(contentsOf: try await file.content(of: chunk)) }
        return data
    }

    /// Fetches files, and returns when all are here. One that is here already is no work.
    ///
    /// A file that is not to be had now stays wanted: it is tried again by itself until no row names it. One for which there is no
    /// space (`full`) does not: what has arrived of it goes, and it waits until somebody asks for it again.
    ///
    /// - Throws: What the first one failed with: ``/RemoteContract/RemoteError``, with code `notFound` when the server does not
    ///   have it, or not whole, yet, and `otherContent` when it gives other bytes than were added here; `StoreError` when it cannot be kept here; ``/OfflineSync/SyncError`` with code
    ///   `unsupported` without a server, and `sessionEnded` while downloads are suspended. `CancellationError`.
    public func fetch(_ ids: [AttachmentID]) async throws { try await opened().fetch(ids) }

    /// Removes a file here at once, and on the server as soon as it can be reached. Rows that name it stay; whoever asks for it
    /// is told that there is none.
    ///
    /// - Throws: As ``add(contentsOf:)``. One that is nowhere is no error.
    public func remove(_ id: AttachmentID) async throws { try await opened().remove(id) }

    /// Tries a file again that ``AttachmentState/failed(_:)``, at once.
    public func retry(_ id: AttachmentID) async throws { try await opened().retry(id) }

    /// Where a file stands now.
    public func state(of id: AttachmentID) async throws -> AttachmentState { try await opened().state(of: id) }

    /// Where a file stands now, and whenever that changes. A loop that does not keep up misses older states, never the last.
    /// It ends when the store is closed.
    public func observe(_ id: AttachmentID) -> AsyncStream<AttachmentState> {
        core?.states.observe(id) ?? AsyncStream { $0.finish() }
    }

    /// Returns when nothing travels, and nothing that is to travel may begin now: all is where it is to be, or waits for its
    /// row, the time after a failure, or a direction that is suspended.
    ///
    /// - Throws: ``/OfflineSync/SyncError`` with code `invalidAction` within a delegate or a policy, whose push would be waited
    ///   for, and `unsupported` for a context without attachments; `StoreError`; `CancellationError`.
    public func settle() async throws { try await opened().settle() }

    /// How many files are still to be encrypted anew: after a key of the store was revoked, each gets another key, by itself, as
    /// long as the store is open, one after the other and beside everything else. The number now, and whenever it changes.
    ///
    /// A file counts as done when its row has the other key. What there was under the old one is removed right after that; when
    /// a kill comes in between, by the next start.
    ///
    /// What is left is gone on with when the store is opened next. A file that is damaged, and that the server does not have, stays
    /// in the number. The sequence ends when the store is closed.
    public func filesToReencrypt() -> AsyncStream<Int> { core?.filesToReencrypt() ?? AsyncStream { $0.finish() } }

    func opened() throws -> AttachmentCore {
        guard let core else { throw Self.unavailable }
        return core
    }

    private static var unavailable: SyncError {
        SyncError(
            .unsupported,
            "This context has no attachments; open it with SyncContext.open and SyncOptions(attachments: AttachmentOptions())."
        )
    }
}
