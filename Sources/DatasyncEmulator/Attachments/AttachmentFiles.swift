import Foundation
import Synchronization

/// The files that clients have sent, in a folder: each under its id when it is whole, with `.part` behind it while it is not.
final class AttachmentFiles: Sendable {
    /// What is there of a file.
    struct Found {
        var offset: Int64
        /// How long the whole is; nil while no client has said so.
        var length: Int64?
        var isComplete: Bool
    }

    private struct State {
        /// How long files are that are not whole yet, by their place.
        var lengths: [String: Int64] = [:]
        /// Who appends to a file, by its place: one at a time.
        var appending: [String: AttachmentAppending] = [:]
    }

    let folder: URL
    private let isTemporary: Bool
    private let state = Mutex(State())

    /// - Parameter folder: Where files are; nil for a new folder that is removed with this.
    init(_ folder: URL?) {
        isTemporary = folder == nil
        self.folder =
            folder
            ?? FileManager.default.temporaryDirectory.appending(path: "sealedsync-attachments-\(UUID().uuidString)")
    }

    deinit {
        guard isTemporary, FileManager.default.fileExists(atPath: folder.path) else { return }
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            // Nobody is left who could be told that it stays among the temporary files.
        }
    }

    /// Whether a text is an id: it is the name of a file as it stands.
    static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"),
                    UInt8(ascii: "_"):
                    true
                default: ByteClasses.isDigit(byte)
                }
            }
    }

    /// What is there of a file, and stays so until somebody appends: who does meanwhile is stopped first.
    func find(_ id: String, of user: String?) throws -> Found? {
        let place = try place(of: id, of: user)
        stopAppending(to: place)
        return try found(at: place)
    }

    private func found(at place: String) throws -> Found? {
        if let size = try FileCalls.size(of: place) { return Found(offset: size, length: size, isComplete: true) }
        guard let size = try FileCalls.size(of: place + ".part") else { return nil }
        return Found(offset: size, length: state.withLock { $0.lengths[place] }, isComplete: false)
    }

    /// Begins to append to a file, whose whole length is given if it is known; nil when it has another number of bytes by
    /// now. Who appends already is stopped: of two that come at once, the later one goes on.
    func append(to id: String, of user: String?, from offset: Int64, length: Int64?) throws -> AttachmentAppending? {
        let place = try place(of: id, of: user)
        return try state.withLock { state in
            state.appending.removeValue(forKey: place)?.stop()
            let appending = try AttachmentAppending(place, length: length)
            guard appending.offset == offset else { return nil }
            state.appending[place] = appending
            if let length { state.lengths[place] = length }
            return appending
        }
    }

    /// Ends appending.
    func end(_ appending: AttachmentAppending) {
        appending.stop()
        state.withLock { if $0.appending[appending.place] === appending { $0.appending[appending.place] = nil } }
    }

    /// Removes a file, whole or in part; false when there is none.
    func remove(_ id: String, of user: String?) throws -> Bool {
        let place = try place(of: id, of: user)
        stopAppending(to: place)
        let wasThere = try [place, place + ".part"].map(FileCalls.remove).contains(true)
        state.withLock { $0.lengths[place] = nil }
        return wasThere
    }

    /// A whole file, to be read; nil when there is none.
    func open(_ id: String, of user: String?) throws -> FilePart? {
        try FilePart(opening: try place(of: id, of: user))
    }

    private func stopAppending(to place: String) {
        state.withLock { $0.appending.removeValue(forKey: place) }?.stop()
    }

    /// Where a file is. Users have files of their own, as they have rows.
    private func place(of id: String, of user: String?) throws -> String {
        precondition(Self.isID(id), "an id was not checked")
        var folder = folder
        if let user { folder.append(path: user.utf8.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appending(path: id).path
    }
}
