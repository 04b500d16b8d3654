internal import RemoteContract
internal import Synchronization
internal import SyncContract

extension AttachmentWork {
    /// Fetches what is missing of a file that is wanted here.
    func download(_ id: AttachmentID) async throws {
        // Who chose it may have read the list before it was refused.
        guard let file = try await file(id), file.isWanted, !file.isHere, file.failure == nil, let transport else {
            return
        }
        guard let file = try await replaced(file, transport) else { return }
        do {
            try await fetch(file, transport) { _ in }
            let now = now
            try await note(file) {
                ($0.isHere, $0.isWanted, $0.isOnServer, $0.failure, $0.lastUsed) = (true, false, true, nil, now)
                $0.aheadFrom = nil
            }
        } catch let error as StoreError where error.code == .full {
            try await giveUp(file)
            throw error
        }
    }

    /// Brings a file here: what has arrived of it before, and the rest.
    ///
    /// - Parameters:
    ///   - file: Which one.
    ///   - transport: What carries it.
    ///   - admit: Is told how long the file is, before anything of it is written.
    /// - Throws: What `admit` throws, what the server or the disk says, `OtherContent`.
    func fetch(
        _ file: AttachmentFile,
        _ transport: any AttachmentTransport,
        _ admit: @escaping @Sendable (_ length: Int64) async throws -> Void
    ) async throws {
        states.travels(file.id, .downloading(0))
        defer { states.travels(file.id, nil) }
        if try await !FileWork.run({ [folder] _ in folder.hasWhole(file.name) }) {
            try await receive(file, transport, admit)
        }
        try await take(file)
    }

    /// Gives back what has arrived of a file for which the disk has no room: rows need it more. Who waits for it is told, and may
    /// ask again.
    private func giveUp(_ file: AttachmentFile) async throws {
        try await forget(file)
        if file.aheadFrom != nil { try await postpone(file) }
        try await change(file.id) { $0.isWanted = false }
    }

    /// Changes what is known of a file that has arrived; removes one that was removed meanwhile.
    func note(_ file: AttachmentFile, _ body: @escaping @Sendable (inout AttachmentFile) -> Void) async throws {
        let isKnown = try await change(file.id, body)
        if !isKnown { try await FileWork.finish { [folder] in try folder.remove(file.name) } }
    }

    /// Brings the content into the file of what has arrived.
    private func receive(
        _ file: AttachmentFile,
        _ transport: any AttachmentTransport,
        _ admit: @escaping @Sendable (Int64) async throws -> Void
    ) async throws {
        let sink = try await FileWork.run { [folder] _ in try DownloadSink(folder, file) }
        do {
            try await receive(file, into: sink, transport, admit)
        } catch {
            // The room of a file that is removed is there when nobody has it open.
            try await FileWork.finish { sink.close() }
            throw error
        }
    }

    private func receive(
        _ file: AttachmentFile,
        into sink: DownloadSink,
        _ transport: any AttachmentTransport,
        _ admit: @escaping @Sendable (Int64) async throws -> Void
    ) async throws {
        let offset = sink.count
        do {
            try gate.check()
            try await transport.download(file.id, from: offset) { [self] version, bytes in
                try gate.check()
                if try sink.begin(version) {
                    try await admit(version.length)
                    // What arrives later is held against it, also after a restart.
                    if offset == 0 { try await change(file.id) { ($0.length, $0.tag) = (version.length, version.tag) } }
                }
                let count = try await FileWork.run { _ in try sink.take(bytes) }
                states.travels(
                    file.id,
                    .downloading(version.length == 0 ? 1 : Double(count) / Double(version.length))
                )
            }
            guard sink.count == sink.length else {
                throw RemoteError(.invalidResponse, "The server ended a file early; it is fetched on from there.")
            }
            try await FileWork.run { _ in try sink.finish() }
        } catch let error as RemoteError
            where offset > 0 && (error.code == .conflict || error.status == 416)
        {
            // It does not go on from there: it has another file, or one that is shorter than what has arrived. Any other refusal
            // says nothing about what is here.
            try await FileWork.run { [folder] _ in try folder.remove(file.name) }
            throw RemoteError(
                .invalidResponse,
                "The server does not go on within a file; it is fetched anew.",
                cause: error
            )
        } catch let error as OtherContent {
            try await FileWork.run { [folder] _ in try folder.remove(file.name) }
            throw error
        }
    }

    /// Reads back what has arrived, all of it, and gives it its name when it is what it is to be.
    private func take(_ file: AttachmentFile) async throws {
        let (length, digest) = try await FileWork.run { [folder] cancellation in
            let stage: AttachmentFolder.Stage = folder.hasWhole(file.name) ? .whole : .partial
            let found: (Int64, [UInt8])
            do {
                let reader = try SealedFileReader(folder.path(of: file.name, stage), file.key)
                found = (reader.layout.length, try reader.digest(cancellation.check))
                if let digest = file.digest, found.1 != digest {
                    throw OtherContent(
                        description: "The server gives other bytes under the name of a file than it was given."
                    )
                }
            } catch let error where error is OtherContent || (error as? StoreError)?.code == .damaged {
                // Of what a kill has left behind, some may never have reached the disk.
                try folder.remove(file.name)
                guard error is OtherContent else {
                    throw RemoteError(.invalidResponse, "What has arrived of a file is damaged; it is fetched anew.")
                }
                throw error
            }
            if stage == .partial { try folder.publish(file.name, .partial) }
            return found
        }
        try await change(file.id) { ($0.length, $0.digest) = (length, digest) }
    }
}

/// Takes what arrives of a file.
private final class DownloadSink: Sendable {
    private struct State: ~Copyable {
        /// Nil when it was closed.
        var writer: SealedFileWriter?
        var version: AttachmentVersion?

        var length: Int64 {
            switch writer {
            case .some(let writer): writer.length
            case .none: 0
            }
        }
    }

    private let state: Mutex<State>
    /// The version that what has arrived is of; nil when nothing has, or nobody has said it.
    private let begun: AttachmentVersion?
    /// What the content was long when it was here; nil when it never was.
    private let known: Int64?

    /// Goes on behind what has arrived.
    init(_ folder: AttachmentFolder, _ file: AttachmentFile) throws {
        let writer = try folder.partialWriter(file)
        known = file.digest == nil ? nil : file.length
        begun = writer.length == 0 ? nil : file.length.map { AttachmentVersion(length: $0, tag: file.tag) }
        state = Mutex(State(writer: writer))
    }

    /// How much there is.
    var count: Int64 { state.withLock { $0.length } }
    /// How much there is to be; nil as long as the server has not said it.
    var length: Int64? { state.withLock { $0.version?.length } }

    /// Takes in which version the next bytes are of, and says whether they are the first ones.
    ///
    /// - Throws: `OtherContent` for a length that the file never had, `RemoteError` with code `conflict` for another version
    ///   than the one that has arrived so far.
    func begin(_ version: AttachmentVersion) throws -> Bool {
        try state.withLock { state in
            guard (known ?? version.length) == version.length else {
                throw OtherContent(description: "The server has another length for a file than it had; add it anew.")
            }
            guard (state.version ?? begun ?? version).isSame(as: version) else {
                throw RemoteError(.conflict, "The server has another file than the one of which a part is here.")
            }
            defer { state.version = version }
            return state.version == nil
        }
    }

    /// Takes the next bytes, and says how many there are now.
    func take(_ bytes: [UInt8]) throws -> Int64 {
        try state.withLock { state in
            let count = state.length + Int64(bytes.count)
            guard let version = state.version, count <= version.length else {
                throw RemoteError(.invalidResponse, "The server gives more of a file than it has.")
            }
            try state.writer?.write(bytes)
            return count
        }
    }

    func finish() throws { try state.withLock { try $0.writer?.finish() } }

    func close() { state.withLock { $0.writer = nil } }
}
