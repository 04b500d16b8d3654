internal import HTTPTransport
public import RemoteContract

extension DatasyncRemote {
    /// The service's attachments: files at `<base address>/<path>/<id>`, asked for with the same credentials, and with the
    /// same reading of answers, as rows.
    ///
    /// They go up as in the IETF's resumable uploads (draft-ietf-httpbis-resumable-upload), with a name that the client has
    /// chosen: `HEAD` is answered with `Upload-Offset` and `Upload-Complete`, `PATCH` with `Upload-Offset` appends, from 0 on
    /// to a file that is not there yet. They come down by `GET` with `Range`; a server that ignores that and sends the whole
    /// is understood. `DELETE` removes them.
    ///
    /// A 404 says that there is no such file, unless it is a page for browsers, or the answer to the very first byte of one:
    /// then it is the path that is not there. Where the server refuses a token in the middle of a file, a new one is asked
    /// for, and the error is `unreachable`: go on from what the server has. ``DatasyncOptions/requestTimeout`` counts from
    /// the last byte of a request to the head of its answer; how long a file may take has no limit.
    ///
    /// Limits that the server tells (`Upload-Limit`) are kept to from then on: a file goes up in several requests of at most
    /// `max-append-size` bytes, and one that is longer than `max-size` is refused before anything of it is sent.
    ///
    /// - Parameter path: The path between the base address and the id; segments are separated by slashes.
    /// - Returns: What sends and fetches files; nothing is sent yet.
    /// - Throws: `RemoteError` with code `invalidAddress` for a path with `.` or `..` as a segment.
    public func attachments(path: String = "attachments") throws(RemoteError) -> some AttachmentTransport {
        DatasyncAttachments(remote: self, path: try endpoint.attachmentsPath(path))
    }
}

struct DatasyncAttachments: AttachmentTransport {
    let remote: DatasyncRemote
    let path: String
    let limits = UploadLimits()

    func state(of id: AttachmentID) async throws -> AttachmentUploadState {
        let response = try await exchange(request(.head, id))
        switch response.mapping {
        case .success: break
        case .gone, .failure(.notFound): return .missing
        case .conflict, .failure: throw response.failure(attachment: "what there is of an attachment")
        }
        guard let offset = response.number(.uploadOffset), let isComplete = response.isUploadComplete else {
            throw response.invalid(
                "does not say how much of an attachment is there; is '\(path)' the path of attachments?"
            )
        }
        return isComplete ? .complete(offset) : .partial(offset)
    }

    func delete(_ id: AttachmentID) async throws {
        let response = try await exchange(request(.delete, id))
        switch response.mapping {
        case .success, .gone, .failure(.notFound): return
        case .conflict, .failure: throw response.failure(attachment: "the deletion of an attachment")
        }
    }

    /// A request about a file.
    func request(_ method: HTTPRequest.Method, _ id: AttachmentID) -> HTTPRequest {
        // The id is made of what needs no encoding.
        var request = remote.endpoint.httpRequest(method, "\(path)/\(id.text)", version: remote.wire.version)
        request.headerFields[.accept] = "*/*"
        request.headerFields[.acceptEncoding] = "identity"
        return request
    }

    func exchange(_ request: HTTPRequest, _ streams: ExchangeStreams? = nil) async throws -> ServerResponse {
        do {
            let response = try await remote.exchangeOrBreak(request, streams)
            limits.note(response)
            return response
        } catch {
            // What the caller's own closures throw comes out as it is.
            if let failure = streams?.failure { throw failure }
            guard let error = error as? TransportError else { throw error }
            throw RemoteError(error, of: request)
        }
    }
}

extension ServerResponse {
    /// A field that is a whole number; nil without one.
    func number(_ name: HTTPField.Name) -> Int64? { fields[name].flatMap(ContentRange.number) }

    /// Whether the server has the whole of a file; nil when it does not say.
    var isUploadComplete: Bool? {
        switch fields[.uploadComplete] {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    /// The error of a request about an attachment that was not answered with a success.
    func failure(attachment what: String) -> RemoteError {
        let (code, problem): (RemoteError.Code, String) =
            switch mapping {
            case .success:
                (.invalidResponse, "answers the request for \(what) in a way that the protocol does not have")
            case .gone: (.notFound, "does not have \(what) any more")
            case .conflict: (.conflict, "has another part of the attachment; ask anew what it has")
            case .failure(.notFound): (.notFound, "does not have \(what)")
            case .failure(.unauthorized):
                (.unauthorized, "wants authentication, or refuses what was sent; sign in again")
            case .failure(.throttled): (.throttled, "asks to come back later")
            case .failure(.serverFailure): (.serverFailure, "failed on the request for \(what); its log says more")
            case .failure(.notTheService):
                (.notTheService, "or something in front of it does not hand on the request for \(what)")
            case .failure(let code): (code, "refuses the request for \(what)")
            }
        return failure(code, "\(server) \(problem)")
    }
}

extension HTTPField.Name {
    static let uploadOffset = HTTPField.Name("Upload-Offset")!
    static let uploadComplete = HTTPField.Name("Upload-Complete")!
    static let uploadLimit = HTTPField.Name("Upload-Limit")!
    static let uploadLength = HTTPField.Name("Upload-Length")!
    static let range = HTTPField.Name("Range")!
    static let contentRange = HTTPField.Name("Content-Range")!
}
