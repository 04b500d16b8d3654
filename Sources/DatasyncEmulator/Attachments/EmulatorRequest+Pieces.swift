import Foundation
import Synchronization

extension EmulatorRequest {
    /// What gives the body piece by piece, wherever it is; nil at the end.
    var pieces: @Sendable () async throws -> [UInt8]? {
        if let content { return content }
        let rest = Mutex<[UInt8]?>(body.isEmpty ? nil : Array(body))
        return {
            rest.withLock { rest in
                defer { rest = nil }
                return rest
            }
        }
    }

    /// The request as one whose client goes away after so many bytes of the body.
    func cut(after count: Int) -> EmulatorRequest {
        let pieces = pieces
        let left = Mutex(count)
        var cut = self
        cut.content = {
            let room = left.withLock { $0 }
            guard room > 0, let piece = try await pieces() else { throw TransferFailure.disconnected }
            left.withLock { $0 -= min(room, piece.count) }
            return Array(piece.prefix(room))
        }
        return cut
    }
}
