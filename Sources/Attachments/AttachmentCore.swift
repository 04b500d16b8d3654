internal import Foundation
internal import OfflineSync
internal import RemoteContract
internal import SyncContract
internal import SyncSessions

/// What is behind ``SyncAttachments`` of a context that has them.
final class AttachmentCore: Sendable {
    let work: AttachmentWork
    let runner: TransferRunner
    /// Whether a push or pull waits for what the task does, or is taken to.
    private let isWithinSync: @Sendable () -> Bool

    var states: AttachmentStates { work.states }

    init(
        _ store: any SyncContextDataSource,
        _ folder: AttachmentFolder,
        _ options: AttachmentOptions,
        _ ahead: AheadRules?,
        _ transport: (any AttachmentTransport)?,
        _ environment: AttachmentEnvironment,
        isWithinSync: @escaping @Sendable () -> Bool = { false }
    ) {
        self.isWithinSync = isWithinSync
        work = AttachmentWork(
            store: store,
            folder: folder,
            references: AttachmentReferences(store.schema),
            transport: transport,
            spaceLimit: options.spaceLimit,
            ahead: ahead,
            environment: environment,
            states: AttachmentStates { id in AttachmentState(try await store.read { try $0.attachment(id) }) },
            gate: AttachmentGate()
        )
        runner = TransferRunner(work, limit: options.parallelTransfers)
    }

    // MARK: Taking in

    func add(_ next: @escaping @Sendable () throws -> [UInt8]?) async throws -> AttachmentID {
        try await runner.prepare()
        try work.gate.check()
        let (id, key, name) = (AttachmentID.make(), try AttachmentFolder.newKey(), try AttachmentFolder.newName())
        let file = try await FileWork.run { [work] cancellation in
            var file = AttachmentFile(id, name: name, key: key, lastUsed: work.now)
            (file.length, file.digest) = try work.folder.write(file) {
                try cancellation.check()
                return try next()
            }
            file.isHere = true
            return file
        }
        do {
            try await work.store.write { try $0.save(file) }
        } catch {
            await work.discard(name)
            throw error
        }
        await states.changed(id)
        return id
    }

    // MARK: Reading

    func open(_ id: AttachmentID) async throws -> OpenAttachment {
        try await runner.prepare()
        try work.gate.check()
        if let file = try await openHere(id) { return file }
        try await fetch([id])
        // Another file may have taken its room at this very moment.
        if let file = try await openHere(id, isFetched: true) { return file }
        throw StoreError(
            .full,
            "The attachment was removed again to make room for others; raise AttachmentOptions.spaceLimit."
        )
    }

    /// The file when it is here; nil when it is to be fetched. One that has just been fetched, and is damaged, is not fetched at
    /// once again.
    private func openHere(_ id: AttachmentID, isFetched: Bool = false) async throws -> OpenAttachment? {
        guard let file = try await work.file(id), file.isHere else { return nil }
        do {
            let open = try await work.open(file)
            await noteUse(of: file)
            return open
        } catch let error as StoreError where error.code == .notFound && file.isOnServer {
            try await work.change(id) { $0.isHere = false }
            return nil
        } catch let error as StoreError where error.code == .damaged && !isFetched {
            guard let now = try await work.file(id), !now.isHere else { throw error }
            return nil
        }
    }

    private func noteUse(of file: AttachmentFile) async {
        let now = work.now
        // A write for each reading would cost more than the reading.
        guard file.aheadFrom != nil || abs(now.milliseconds - file.lastUsed.milliseconds) >= 60_000 else { return }
        do {
            try await work.change(file.id) { ($0.lastUsed, $0.aheadFrom) = (now, nil) }
        } catch {
            // The file can be read, if it cannot be written down: on a full disk, say.
        }
    }

    func fetch(_ ids: [AttachmentID]) async throws {
        try await runner.prepare()
        try work.gate.check()
        var missing: [AttachmentID] = []
        for id in ids where try await work.file(id)?.isHere != true { missing.append(id) }
        guard !missing.isEmpty else { return }
        guard work.transport != nil else {
            throw SyncError(
                .unsupported,
                "The attachment is not here, and this context has no server to fetch it from."
            )
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in missing { group.addTask { [runner] in try await runner.fetch(id) } }
            try await group.waitForAll()
        }
    }

    // MARK: Removing

    func remove(_ id: AttachmentID) async throws {
        try await runner.prepare()
        let name: String? = try await work.store.write { transaction in
            let name = try transaction.attachment(id)?.name
            try transaction.delete([.string(id.text)], from: AttachmentFiles.table.name)
            let removal = Record(id: .string("//\(id.text)"), ["file": .string(id.text)])
            try transaction.upsert([removal], into: AttachmentRemovals.table.name)
            return name
        }
        // Who waits for it to be fetched waits for nothing any more.
        await runner.removed(id)
        if let name { try await FileWork.finish { [work] in try work.folder.letGo(name) } }
        await states.changed(id)
    }

    func retry(_ id: AttachmentID) async throws {
        try await runner.prepare()
        try await work.change(id) { $0.failure = nil }
        await runner.asked([id])
    }

    func settle() async throws {
        guard !isWithinSync() else {
            throw SyncError(
                .invalidAction,
                "A push or pull is under way that waits for this call, and files are sent after it; wait for them when it has"
                    + " ended, not within a delegate or a policy."
            )
        }
        try await runner.settle()
    }

    func filesToReencrypt() -> AsyncStream<Int> {
        let (store, changes) = (work.store, work.store.changes())
        let (numbers, told) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            let query = AttachmentWork.exposed.filtered(by: Column("isHere") == true)
            var last: Int?
            func tell() async {
                do {
                    let number = try await store.read { try $0.count(query) }
                    if number != last { told.yield(number) }
                    last = number
                } catch {
                    // The store is locked: its next change is the next chance.
                }
            }
            await tell()
            for await change in changes where change.tables.contains(AttachmentFiles.table.name) { await tell() }
            told.finish()
        }
        told.onTermination = { _ in task.cancel() }
        return numbers
    }

    func state(of id: AttachmentID) async throws -> AttachmentState {
        if let travelling = states.travelling(id) { return travelling }
        return AttachmentState(try await work.file(id))
    }
}

extension AttachmentState {
    /// The state of a file that does not travel.
    init(_ file: AttachmentFile?) {
        guard let file else {
            self = .unknown
            return
        }
        self =
            if let failure = file.failure { .failed(failure) } else if !file.isHere { .remote } else if file.isOnServer
            {
                .synced
            } else { .pending }
    }
}
