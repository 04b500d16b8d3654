import Foundation

/// Answers requests for files, as in the IETF's resumable uploads (draft-ietf-httpbis-resumable-upload) but for one thing:
/// there is no request that makes a file. The client chooses its name, and appending from 0 on begins it.
struct AttachmentHandler {
    let files: AttachmentFiles
    let request: EmulatorRequest
    let user: String?

    private static let methods = "GET, HEAD, PATCH, DELETE, OPTIONS"

    /// Why the answer is a problem in the sense of RFC 9457.
    private enum Problem: String {
        case mismatchingOffset = "mismatching-upload-offset"
        case completed = "completed-upload"
        case inconsistentLength = "inconsistent-upload-length"
    }

    func response(to id: String) async -> EmulatorResponse {
        guard AttachmentFiles.isID(id) else {
            return problem(400, "An id is 1 to 64 of A to Z, a to z, 0 to 9, hyphen and underscore.")
        }
        do {
            switch request.method {
            case "HEAD": return try state(of: id)
            case "GET": return try content(of: id)
            case "PATCH": return try await append(to: id)
            case "DELETE":
                return try files.remove(id, of: user) ? EmulatorResponse(204) : missing
            case "OPTIONS": return EmulatorResponse(204, headers: ["Accept-Patch": "application/partial-upload"])
            default: return EmulatorResponse(405, headers: ["Allow": Self.methods])
            }
        } catch is TransferFailure {
            return problem(408, "The rest of the request did not come.")
        } catch let failure as SystemFailure where failure.code == ENOSPC || failure.code == EDQUOT {
            return problem(507, "The disk of the server is full.")
        } catch {
            return problem(500, "The file could not be reached.")
        }
    }

    // MARK: State

    private func state(of id: String) throws -> EmulatorResponse {
        guard let found = try files.find(id, of: user) else { return missing }
        var response = EmulatorResponse(found.isComplete ? 200 : 204, headers: fields(found))
        response.headers["Cache-Control"] = "no-store"
        guard found.isComplete, let file = try files.open(id, of: user) else { return response }
        response.headers["ETag"] = file.tag
        response.headers["Accept-Ranges"] = "bytes"
        response.headers["Content-Type"] = "application/octet-stream"
        response.file = EmulatorResponse.File(part: file, start: 0, count: file.length)
        return response
    }

    private func fields(_ found: AttachmentFiles.Found) -> HTTPHeaderFields {
        var fields: HTTPHeaderFields = [
            "Upload-Offset": "\(found.offset)", "Upload-Complete": found.isComplete ? "?1" : "?0",
        ]
        if let length = found.length { fields["Upload-Length"] = "\(length)" }
        return fields
    }

    // MARK: Content

    private func content(of id: String) throws -> EmulatorResponse {
        guard let file = try files.open(id, of: user) else { return missing }
        var response = EmulatorResponse(
            200,
            headers: ["Content-Type": "application/octet-stream", "Accept-Ranges": "bytes", "ETag": file.tag]
        )
        switch AttachmentRequest(request: request).range(in: file) {
        case .whole: response.file = EmulatorResponse.File(part: file, start: 0, count: file.length)
        case .bytes(let range):
            response.status = 206
            response.headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound)/\(file.length)"
            let count = range.upperBound - range.lowerBound + 1
            response.file = EmulatorResponse.File(part: file, start: range.lowerBound, count: count)
        case .unsatisfiable:
            var refusal = problem(416, "The file ends before that.")
            refusal.headers["Content-Range"] = "bytes */\(file.length)"
            return refusal
        }
        return response
    }

    // MARK: Appending

    private func append(to id: String) async throws -> EmulatorResponse {
        guard request.mediaType == "application/partial-upload" else {
            var refusal = problem(415, "What is appended is of type application/partial-upload.")
            refusal.headers["Accept-Patch"] = "application/partial-upload"
            return refusal
        }
        let asked = AttachmentRequest(request: request)
        guard let offset = asked.offset, let isComplete = asked.isComplete else {
            return problem(400, "Upload-Offset and Upload-Complete say which bytes these are.")
        }
        let found = try files.find(id, of: user) ?? AttachmentFiles.Found(offset: 0, length: nil, isComplete: false)
        guard found.offset == offset else {
            return problem(409, "The file has another number of bytes.", .mismatchingOffset, fields(found))
        }
        guard !found.isComplete else {
            return problem(400, "The file is complete.", .completed, fields(found))
        }
        let inconsistent = problem(
            400,
            "The file was said to be of another length.",
            .inconsistentLength,
            fields(found)
        )
        let length: Int64?
        do throws(AttachmentRequest.Contradiction) {
            length = try asked.length(from: offset)
        } catch {
            return inconsistent
        }
        guard found.length ?? length == length ?? found.length, length ?? .max >= offset else { return inconsistent }
        let whole = length ?? found.length
        guard let appending = try files.append(to: id, of: user, from: offset, length: whole) else {
            return problem(409, "Another request for the file came.")
        }
        defer { files.end(appending) }
        let next = request.pieces
        while let piece = try await next() {
            switch try appending.append(piece) {
            case .appended: continue
            case .stopped: return problem(409, "Another request for the file came.")
            case .tooLong:
                // What is there cannot be the beginning of the file that was meant.
                _ = try files.remove(id, of: user)
                return inconsistent
            }
        }
        let reached = appending.offset
        guard isComplete else {
            return EmulatorResponse(204, headers: ["Upload-Offset": "\(reached)", "Upload-Complete": "?0"])
        }
        guard whole ?? reached == reached else { return inconsistent }
        guard try appending.complete() else { return problem(409, "Another request for the file came.") }
        return EmulatorResponse(201, headers: ["Upload-Offset": "\(reached)", "Upload-Complete": "?1"])
    }

    // MARK: Refusals

    private var missing: EmulatorResponse { problem(404, "There is no such file, or not all of it.") }

    private func problem(
        _ status: Int,
        _ title: String,
        _ problem: Problem? = nil,
        _ fields: HTTPHeaderFields = [:]
    ) -> EmulatorResponse {
        let type = problem.map { "https://iana.org/assignments/http-problem-types#\($0.rawValue)" } ?? "about:blank"
        let body: JSONValue = ["type": .string(type), "title": .string(title)]
        var response = EmulatorResponse.json(status, body)
        for (name, value) in fields { response.headers[name] = value }
        response.headers["Content-Type"] = "application/problem+json"
        return response
    }
}
