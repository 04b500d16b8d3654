internal import HTTPTransport
internal import RemoteContract
internal import Synchronization

extension DatasyncAttachments {
    func download(
        _ id: AttachmentID,
        from offset: Int64,
        receive: @escaping @Sendable (_ version: AttachmentVersion, _ bytes: [UInt8]) async throws -> Void
    ) async throws {
        guard offset >= 0 else {
            throw RemoteError.invalidRequest("An attachment has no byte \(offset).")
        }
        let progress = DownloadProgress(offset)
        repeat {
            let before = progress.position
            let request = request(id, from: before)
            let streams = ExchangeStreams { head in
                let response = remote.serverResponse(head, to: request)
                guard let part = try response.part(from: progress.position) else { return .held }
                try progress.begin(part, response)
                return .streamed(limit: part.count) { bytes in
                    let (version, wanted) = progress.take(bytes)
                    if !wanted.isEmpty { try await receive(version, wanted) }
                }
            }
            let response = try await exchange(request, streams)
            guard response.status == 200 || response.status == 206 else {
                guard try response.isAtEnd(progress.position) else {
                    throw response.failure(attachment: "an attachment, or not all of it")
                }
                try progress.begin(ContentRange(first: progress.position, length: progress.position), response)
                break
            }
            // A server may give less than was asked for (RFC 9110 15.3.7), but not nothing.
            guard progress.isAtEnd || progress.position > before else {
                throw response.invalid("ends before the attachment does")
            }
        } while !progress.isAtEnd
        if !progress.hasGiven, let version = progress.version { try await receive(version, []) }
    }

    private func request(_ id: AttachmentID, from offset: Int64) -> HTTPRequest {
        var request = request(.get, id)
        if offset > 0 { request.headerFields[.range] = "bytes=\(offset)-" }
        return request
    }
}

extension ServerResponse {
    /// Which bytes of the file the body is; nil when it is none.
    ///
    /// - Throws: `RemoteError` with code `invalidResponse` or `notTheService` when they are not those that were asked for.
    fileprivate func part(from offset: Int64) throws(RemoteError) -> ContentRange? {
        guard status == 200 || status == 206 else { return nil }
        guard !looksLikeHTML else { throw failure(attachment: "an attachment") }
        let coding = fields[.contentEncoding]?.lowercased()
        guard coding == nil || coding == "identity" else {
            throw invalid("has an attachment in a coding that nobody asked for")
        }
        if status == 200 {
            guard let length = number(.contentLength) ?? number(.uploadLength) else {
                throw invalid("does not say how long the attachment is")
            }
            return ContentRange(first: 0, length: length)
        }
        guard let range = fields[.contentRange].flatMap(ContentRange.init) else {
            throw invalid("does not say which bytes of the attachment it has")
        }
        guard range.first == offset, number(.contentLength).map({ $0 == range.count }) ?? true else {
            throw invalid("has other bytes of the attachment than were asked for")
        }
        return range
    }

    /// The tag that is the same exactly as long as the bytes are; a weak one promises less (RFC 9110 8.8.3).
    fileprivate var strongTag: String? {
        guard let tag = fields[.eTag], tag.hasPrefix("\""), tag.count > 2 else { return nil }
        return tag
    }

    /// The error of a file that is not the one of which something has come before.
    fileprivate func otherFile(_ offset: Int64) -> RemoteError {
        RemoteError(
            .conflict,
            "\(server) has another attachment than the one of which \(offset) bytes are here; fetch it anew.",
            status: status,
            exchange: exchange
        )
    }

    /// Whether the file ends where more of it was asked for.
    fileprivate func isAtEnd(_ offset: Int64) throws(RemoteError) -> Bool {
        guard status == 416, let length = fields[.contentRange].flatMap(ContentRange.unsatisfied) else { return false }
        guard length == offset else { throw otherFile(offset) }
        return true
    }
}

/// How far a file has come.
private final class DownloadProgress: Sendable {
    private struct State {
        var position: Int64
        /// Bytes that come first and are there already.
        var skipped: Int64 = 0
        var version: AttachmentVersion?
        var hasGiven = false
    }

    private let state: Mutex<State>

    init(_ offset: Int64) { state = Mutex(State(position: offset)) }

    /// The next byte that is wanted.
    var position: Int64 { state.withLock(\.position) }

    /// Which file it is; nil before the first answer.
    var version: AttachmentVersion? { state.withLock(\.version) }

    var hasGiven: Bool { state.withLock(\.hasGiven) }

    var isAtEnd: Bool { state.withLock { $0.position == $0.version?.length } }

    /// Notes which bytes come.
    func begin(_ part: ContentRange, _ response: ServerResponse) throws(RemoteError) {
        let isSane = state.withLock { state in
            let version = AttachmentVersion(length: part.length, tag: response.strongTag ?? state.version?.tag)
            guard state.version?.isSame(as: version) ?? true, state.position <= part.length else { return false }
            state.version = version
            state.skipped = state.position - part.first
            return true
        }
        guard isSane else {
            throw response.otherFile(position)
        }
    }

    /// Which file it is, and what of some bytes is wanted.
    func take(_ bytes: [UInt8]) -> (version: AttachmentVersion, wanted: [UInt8]) {
        state.withLock { state in
            let skipped = min(state.skipped, Int64(bytes.count))
            state.skipped -= skipped
            state.position += Int64(bytes.count) - skipped
            if bytes.count > skipped { state.hasGiven = true }
            return (
                state.version ?? AttachmentVersion(length: 0),
                skipped == 0 ? bytes : Array(bytes.dropFirst(Int(skipped)))
            )
        }
    }
}
