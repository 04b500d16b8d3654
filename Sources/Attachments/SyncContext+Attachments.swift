package import Foundation
public import OfflineSync
package import RemoteContract
package import SyncContract
internal import SyncSessions

extension SyncContext {
    /// The files beside the rows, of a context that was opened with ``/OfflineSync/SyncOptions/attachments``.
    ///
    /// Of any other context every call throws ``/OfflineSync/SyncError`` with code `unsupported`.
    public var attachments: SyncAttachments { companion { SyncAttachments(nil) } }

    /// Begins to keep files beside the rows of a store.
    ///
    /// - Parameters:
    ///   - folder: Where they lie.
    ///   - options: How they travel.
    ///   - transport: What carries them; nil without a server.
    ///   - ahead: Which files are fetched before somebody asks for them, of `options`.
    ///   - environment: Time, chance and the file system.
    /// - Throws: What reading the store throws; nothing has begun then.
    package func startAttachments(
        in folder: URL,
        _ options: AttachmentOptions,
        transport: (any AttachmentTransport)?,
        ahead: [AttachmentsAhead.Rule],
        environment: AttachmentEnvironment = AttachmentEnvironment()
    ) async throws {
        try await session.readSuspension()
        let attachments = companion {
            let folder = AttachmentFolder(folder, in: environment.fileSystem)
            let ahead = ahead.isEmpty || transport == nil ? nil : AheadRules(ahead, events.followArrivals())
            let core = AttachmentCore(store, folder, options, ahead, transport, environment) { [weak self] in
                self?.isWithinSync == true
            }
            return SyncAttachments(core)
        }
        let (pushes, told) = AsyncStream.makeStream(of: Bool.self)
        let listening = Task { [events] in
            for await event in events {
                switch event {
                case .pushStarted: told.yield(true)
                case .pushEnded, .pushAborted: told.yield(false)
                default: break
                }
            }
        }
        told.onTermination = { _ in listening.cancel() }
        await attachments.core?.runner.start(pushes: pushes, of: session)
    }
}

extension StoreSchema {
    /// This schema with the tables that keep what is known of files.
    ///
    /// - Throws: `StoreError` with code `invalidSchema` when the app has tables of these names.
    package func withAttachments() throws(StoreError) -> StoreSchema {
        try adding([AttachmentFiles.table, AttachmentRemovals.table])
    }
}

extension SyncAttachments {
    /// Ends what travels, and waits for that; nothing is read or sent until ``unlock()``.
    package func lock() async { await core?.runner.setLocked(true) }
    package func unlock() async { await core?.runner.setLocked(false) }

    /// Ends everything, and waits for that.
    package func close() async { await core?.runner.close() }
}
