internal import RemoteContract
internal import Synchronization
internal import SyncContract

extension AttachmentWork {
    /// Fetches what is missing of a file that is wanted here.
    func download(_ id: AttachmentID) async throws {
        guard let file = try await file(id), file.isWanted, !file.isHere, let transport else { return }
        states.travels(id, .downloading(0))
        defer { states.travels(id, nil) }
        if try await !FileWork.run({ [folder] _ in folder.hasWhole(file.name) }) {
            try await receive(file, transport)
        }
        try await take(file)
        states.travels(id, nil)
        let now = now
        let isKnown = try await change(id) {
            ($0.isHere, $0.isWanted, $0.isOnServer, $0.failure, $0.lastUsed) = (true, false, true, nil, now)
        }
        // It was removed meanwhile.
        if !isKnown { try await FileWork.run { [folder] _ in try folder.remove(file.name) } }
    }

    /// Brings the content into the file of what has arrived.
    private func receive(_ file: AttachmentFile, _ transport: any AttachmentTransport) async throws {
        let sink = try await FileWork.run { [folder] _ in try DownloadSink(folder, file) }
        let offset = sink.count
        do {
            try gate.check()
            try await transport.download(file.id, from: offset) { [states, gate] length, bytes in
                try gate.check()
                let count = try await FileWork.run { _ in try sink.take(bytes, of: length) }
                states.travels(file.id, .downloading(length == 0 ? 1 : Double(count) / Double(length)))
            }
            guard sink.count == sink.length else {
                throw RemoteError(.invalidResponse, "The server ended a file early; it is fetched on from there.")
            }
            try await FileWork.run { _ in try sink.finish() }
        } catch let error as RemoteError
            where offset > 0 && [.refused, .conflict, .invalidRequest].contains(error.code)
        {
            // It does not go on from there: its file is shorter than what has arrived, or it has no ranges.
            try await FileWork.run { [folder] _ in try folder.remove(file.name) }
            throw RemoteError(
                .invalidResponse,
                "The server does not go on within a file; it is fetched anew.",
                cause: error
            )
        } catch is OtherContent {
            try await FileWork.run { [folder] _ in try folder.remove(file.name) }
            throw OtherContent(description: "The server has another length for a file than it had; add it anew.")
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
        var writer: SealedFileWriter
        var length: Int64?
    }

    private let state: Mutex<State>
    /// What the content was long when it was here; nil when it never was.
    private let known: Int64?

    /// Goes on behind what has arrived.
    init(_ folder: AttachmentFolder, _ file: AttachmentFile) throws {
        known = file.length
        state = Mutex(State(writer: try folder.partialWriter(file)))
    }

    /// How much there is.
    var count: Int64 { state.withLock { $0.writer.length } }
    /// How much there is to be; nil as long as the server has not said it.
    var length: Int64? { state.withLock { $0.length } }

    func take(_ bytes: [UInt8], of length: Int64) throws -> Int64 {
        try state.withLock { state in
            let count = state.writer.length + Int64(bytes.count)
            guard (state.length ?? known ?? length) == length, count <= length else {
                throw OtherContent(description: "The server has \(length) bytes of a file, and gives or had others.")
            }
            state.length = length
            try state.writer.write(bytes)
            return count
        }
    }

    func finish() throws { try state.withLock { try $0.writer.finish() } }
}
