internal import HTTPTransport
internal import Synchronization

/// What the server has said last about how much it takes: `Upload-Limit: max-size=1000000, max-append-size=65536`.
final class UploadLimits: Sendable {
    private let state = Mutex<(file: Int64, request: Int64)>((.max, .max))

    /// The most bytes of a file.
    var file: Int64 { state.withLock(\.file) }
    /// The most bytes of a request.
    var request: Int64 { state.withLock(\.request) }

    /// Takes in what an answer says. Where it says nothing of a limit, the one from before stays; what is no number of bytes says
    /// nothing, and the limits that do not matter to a client with files of its own (`min-size`, `max-age`) neither.
    func note(_ response: ServerResponse) {
        guard let text = response.fields[.uploadLimit] else { return }
        for member in text.split(separator: ",") {
            // A value may have parameters behind it.
            let value = member.split(separator: ";", omittingEmptySubsequences: false)[0]
            let parts = value.split(separator: "=", maxSplits: 1).map { $0.trimming(" \t") }
            guard parts.count == 2, let number = Int64(parts[1]), number > 0 else { continue }
            state.withLock { state in
                switch parts[0] {
                case "max-size": state.file = number
                case "max-append-size": state.request = number
                default: break
                }
            }
        }
    }
}

extension Substring {
    fileprivate func trimming(_ characters: String) -> Substring {
        var text = self
        while let first = text.first, characters.contains(first) { text.removeFirst() }
        while let last = text.last, characters.contains(last) { text.removeLast() }
        return text
    }
}

/// A content that goes out in several requests.
final class PartedContent: Sendable {
    private let source: @Sendable () async throws -> [UInt8]?
    private let state = Mutex<(rest: [UInt8], left: Int64)>(([], 0))

    init(_ source: @escaping @Sendable () async throws -> [UInt8]?) { self.source = source }

    /// The body of the next request. The last one has whatever the source still gives: one that gives too much is found out.
    func body(_ count: Int64, isLast: Bool) -> StreamedBody {
        state.withLock { $0.left = isLast ? .max : count }
        return StreamedBody(length: count) { [self] in try await next() }
    }

    /// The next bytes of the part; nil at its end. Called by one task at a time.
    private func next() async throws -> [UInt8]? {
        let (held, left) = state.withLock { state in
            defer { state.rest = [] }
            return (state.rest, state.left)
        }
        guard left > 0 else {
            state.withLock { $0.rest = held }
            return nil
        }
        let found: [UInt8]? = if held.isEmpty { try await source() } else { held }
        guard var bytes = found else { return nil }
        state.withLock { state in
            if Int64(bytes.count) > left {
                state.rest = Array(bytes[Int(left)...])
                bytes.removeSubrange(Int(left)...)
            }
            state.left -= Int64(bytes.count)
        }
        return bytes
    }
}
