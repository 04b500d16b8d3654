internal import HTTPTransport
internal import RemoteContract

extension DatasyncAttachments {
    func upload(
        _ id: AttachmentID,
        from offset: Int64,
        length: Int64,
        content: @escaping @Sendable () async throws -> [UInt8]?
    ) async throws {
        guard (0...length).contains(offset) else {
            throw RemoteError.invalidRequest("An attachment of \(length) bytes cannot be sent from byte \(offset) on.")
        }
        guard length <= limits.file else {
            throw RemoteError(
                .refused,
                "The server takes attachments of at most \(limits.file) bytes, and this one has \(length); make it smaller."
            )
        }
        let content = PartedContent(content)
        var position = offset
        repeat {
            let count = min(length - position, limits.request)
            try await append(id, from: position, count, of: length, content)
            position += count
        } while position < length
    }

    /// Sends some bytes of a file in one request.
    private func append(
        _ id: AttachmentID,
        from offset: Int64,
        _ count: Int64,
        of length: Int64,
        _ content: PartedContent
    ) async throws {
        let isLast = offset + count == length
        var request = request(.patch, id)
        request.headerFields[.contentType] = "application/partial-upload"
        request.headerFields[.uploadOffset] = "\(offset)"
        request.headerFields[.uploadLength] = "\(length)"
        request.headerFields[.uploadComplete] = isLast ? "?1" : "?0"
        let response = try await exchange(request, ExchangeStreams(content.body(count, isLast: isLast)))
        switch response.mapping {
        case .success where !isLast:
            guard (response.number(.uploadOffset) ?? offset + count) == offset + count else {
                throw response.otherPart(offset, response.number(.uploadOffset).map { .partial($0) })
            }
        case .success where response.isUploadComplete == true: return
        case .success:
            // Some servers say nothing of the file in the answer, and what stands in front of one says yes to everything.
            let there = try await remote.afterRequest { try await state(of: id) }
            guard there == .complete(length) else { throw response.otherPart(offset, there) }
        case .failure(.notFound) where offset == 0, .gone where offset == 0:
            throw response.failure(attachment: "a place for attachments at '\(path)'")
        // What was there of it is gone, or it is whole already.
        case .failure(.notFound), .gone: throw response.otherPart(offset, .missing)
        case .failure(.refused) where response.isUploadComplete == true, .conflict:
            throw response.otherPart(offset, response.number(.uploadOffset).map { .partial($0) })
        // It has said with the refusal how much it takes at a time.
        case .failure(.refused) where limits.request < count: throw response.otherPart(offset, nil)
        case .failure: throw response.failure(attachment: "an attachment")
        }
    }
}

extension ServerResponse {
    /// The error of bytes that do not go on where the server's end.
    fileprivate func otherPart(_ offset: Int64, _ state: AttachmentUploadState?) -> RemoteError {
        let has =
            switch state {
            case nil: "another number of bytes"
            case .missing: "nothing"
            case .partial(let count), .complete(let count): "\(count) bytes"
            }
        return RemoteError(
            .conflict,
            "\(server) has \(has) of an attachment that was sent from byte \(offset) on; ask what it has, and go on there.",
            status: status,
            exchange: exchange
        )
    }
}
