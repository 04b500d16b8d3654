import Foundation
import Synchronization

/// One request that appends to a file, until it ends or another request for the file comes.
final class AttachmentAppending: Sendable {
    enum Outcome {
        case appended
        /// The file would be longer than was said.
        case tooLong
        /// Another request for the file came, and nothing more is appended by this one.
        case stopped
    }

    private struct State {
        var descriptor: Int32?
        var offset: Int64
    }

    let place: String
    private let length: Int64?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - place: The path of the whole file.
    ///   - length: How long it will be, if that is known.
    /// - Throws: `SystemFailure`.
    init(_ place: String, length: Int64?) throws {
        self.place = place
        self.length = length
        let descriptor = try FileCalls.open(place + ".part", O_WRONLY | O_CREAT | O_APPEND)
        state = Mutex(State(descriptor: descriptor, offset: try FileCalls.size(of: descriptor)))
    }

    deinit { stop() }

    /// How many bytes there are.
    var offset: Int64 { state.withLock(\.offset) }

    func append(_ bytes: [UInt8]) throws -> Outcome {
        try state.withLock { state in
            guard let descriptor = state.descriptor else { return .stopped }
            guard Int64(bytes.count) <= (length ?? .max) - state.offset else { return .tooLong }
            try FileCalls.write(bytes, to: descriptor)
            state.offset += Int64(bytes.count)
            return .appended
        }
    }

    /// Makes what is there the whole file, at once; false when another request for the file came.
    func complete() throws -> Bool {
        try state.withLock { state in
            guard let descriptor = state.descriptor else { return false }
            try FileCalls.synchronize(descriptor)
            try FileCalls.rename(place + ".part", to: place)
            close(descriptor)
            state.descriptor = nil
            return true
        }
    }

    /// Appends nothing more; what is there stays.
    func stop() {
        state.withLock { state in
            if let descriptor = state.descriptor { close(descriptor) }
            state.descriptor = nil
        }
    }
}
