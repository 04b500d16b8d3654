internal import Foundation
internal import HTTPTransport
internal import RemoteContract
internal import SyncContract

/// One answer of the server, and where it came from.
struct ServerResponse: Sendable {
    var status: Int
    var fields: HTTPFields
    var body: [UInt8]
    /// The server's host and port, for messages.
    var server: String
    /// How long the request took, from before it was sent until its answer was there.
    var duration = Duration.zero
    /// What was asked, with its credentials.
    var request: HTTPRequest?

    /// What the answer means. A page for browsers that says yes, or that there is no such row, comes from something in front
    /// of the service, or from a service that was stopped: it says nothing about the row, and must not pass for a deletion.
    var mapping: ResponseMapping {
        let mapping = ResponseMapping(status: status)
        switch mapping {
        case .success, .gone, .failure(.notFound): return isForeign ? .failure(.notTheService) : mapping
        case .conflict, .failure: return mapping
        }
    }

    /// Whether the body is of a kind that services never send.
    private var isForeign: Bool {
        // What says that there is no body says nothing about its kind.
        guard status != 204 else { return false }
        if looksLikeHTML { return true }
        guard !body.isEmpty, fields[.contentType] != nil, !isOfType("json") else { return false }
        return !JSONReader.isValid(body)
    }

    /// The body as JSON.
    ///
    /// - Throws: ``RemoteContract/RemoteError`` with code `invalidResponse`, or `notTheService` for a page for browsers.
    func json() throws(RemoteError) -> JSONNode {
        try read { (reader) throws(JSONError) in try JSONNode(reading: &reader) }
    }

    /// Reads the body as JSON, with a closure that reads its value.
    ///
    /// - Throws: As ``json()``.
    func read<Value>(
        _ body: (inout JSONReader) throws(JSONError) -> Value
    ) throws(RemoteError) -> Value {
        do throws(JSONError) {
            var reader = JSONReader(self.body)
            let value = try body(&reader)
            try reader.end()
            return value
        } catch {
            let body = self.body
            throw invalid(
                looksLikeHTML
                    ? "is HTML: is this the address of a Datasync service, or is a login page in between?"
                    : body.isEmpty
                        ? "is empty where a row or a list is due; is this the address of a Datasync service?"
                        : "is not JSON; is this the address of a Datasync service?",
                cause: body.isEmpty || looksLikeHTML ? nil : error
            )
        }
    }

    /// Whether this is a page of rows: an object with `items`, or, where that is allowed, an array or `{results,count}`.
    func isPage(isBareListAllowed: Bool) -> Bool {
        guard mapping == .success else { return false }
        do throws(RemoteError) {
            let body = try json()
            var rows = body["items"]?.elements
            if isBareListAllowed { rows = rows ?? body.elements ?? body["results"]?.elements }
            return rows?.allSatisfy { if case .object = $0 { true } else { false } } ?? false
        } catch {
            // No JSON is no page, whatever it is.
            return false
        }
    }

    /// An error that says what is wrong with this answer.
    func invalid(_ problem: String, cause: (any Error)? = nil) -> RemoteError {
        RemoteError(
            isForeign ? .notTheService : .invalidResponse,
            Self.sentence("The answer of \(server) \(problem)"),
            status: status,
            cause: cause,
            exchange: exchange
        )
    }

    /// The error of an answer that is neither a success nor a conflict.
    func failure(table: String) -> RemoteError {
        let code: RemoteError.Code =
            switch mapping {
            case .success: .invalidResponse
            case .conflict: .conflict
            case .gone: .refused
            case .failure(let code): code
            }
        return failure(code, explanation(of: code, table: table))
    }

    /// The error of a page for browsers in the place of the service's answer.
    func failureInFront(table: String) -> RemoteError { failure(.refused, explanation(of: .refused, table: table)) }

    /// The version that was sent along.
    var sentVersion: String? { request.flatMap { EntityTag.version($0.headerFields[.ifMatch]) } }

    /// The error of an answer that is no success: what is wrong with it, and then what the server says about that, of a
    /// conflict only where its body is no row.
    func failure(_ code: RemoteError.Code, _ problem: String, isAboutRow: Bool = true) -> RemoteError {
        var error = RemoteError(
            code,
            Self.sentence(problem + (isAboutRow && mapping == .conflict ? "" : serverText)),
            status: status,
            retryAfter: retryAfter,
            exchange: exchange
        )
        error.isWebPage = (400..<500).contains(status) && looksLikeHTML
        return error
    }

    /// A text with the mark at its end that a sentence has, unless it has one.
    private static func sentence(_ text: String) -> String {
        text.last.map { ".?!".contains($0) } ?? false ? text : text + "."
    }

    private func explanation(of code: RemoteError.Code, table: String) -> String {
        switch code {
        case .unauthorized: "\(server) wants authentication, or refuses what was sent; sign in again"
        case .notFound: "\(server) has no such row in table '\(table)', or no such table"
        case .throttled: "\(server) asks to come back later"
        case .refused where looksLikeHTML:
            "Something in front of \(server) refuses the request to table '\(table)' with a web page; ask whoever runs it"
        case .refused: "\(server) refuses the request to table '\(table)'"
        case .serverFailure: "\(server) failed on the request to table '\(table)'; its log says more"
        case .notTheService where (300...399).contains(status):
            "\(server) redirects\(redirectionTarget), which is not followed, because it would take data and"
                + " credentials elsewhere; use the final address"
        case .notTheService where status == 407:
            "A proxy in front of \(server) wants to be signed in to; set that up, or do without the proxy"
        case .notTheService where status >= 500:
            "Something in front of \(server) did not reach the service; try again later"
        case .notTheService where looksLikeHTML && status < 300:
            "The answer of \(server) is HTML: is this the address of a Datasync service, or is a login page in between?"
        case .notTheService where looksLikeHTML:
            "\(server) has a web page where table '\(table)' should be; check the address and the table's name"
        case .notTheService where ResponseMapping(status: status) != .failure(.notTheService):
            "The answer of \(server) is not JSON; is this the address of a Datasync service?"
        default: "\(server) answered with a status that the protocol does not have"
        }
    }

    /// Host and scheme of a redirection, without path and query, which may carry secrets.
    private var redirectionTarget: String {
        guard let target = fields[.location].flatMap(URLComponents.init(string:)), let host = target.encodedHost else {
            return ""
        }
        return " to \(target.scheme.map { $0 + "://" } ?? "")\(host)"
    }

    var looksLikeHTML: Bool {
        isOfType("html") || body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "<")
    }

    /// What services send, which is compared as a whole.
    private static let usualTypes = ["application/json", "application/json; charset=utf-8"]

    /// Whether the type of the body has a word in it. Every answer is asked, and searching in texts takes microseconds.
    private func isOfType(_ word: String) -> Bool {
        guard let text = fields[.contentType] else { return false }
        if Self.usualTypes.contains(text) { return word == "json" }
        let type = Array(text.lowercased().utf8)
        return type.indices.contains { type[$0...].starts(with: word.utf8) }
    }
}
