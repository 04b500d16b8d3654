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

    /// What the answer means. A page of HTML that says 404 or 410 comes from something in front of the service, or from
    /// a service that was stopped: it says nothing about the row, and must not pass for a deletion.
    var mapping: ResponseMapping {
        let mapping = ResponseMapping(status: status)
        let isAboutTheRow = mapping == .gone || mapping == .failure(.notFound)
        return isAboutTheRow && looksLikeHTML ? .failure(.invalidResponse) : mapping
    }

    /// The body as JSON.
    func json() throws(RemoteError) -> JSONNode {
        do throws(JSONError) {
            return try JSONNode(parsing: body)
        } catch {
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
        RemoteError(.invalidResponse, Self.sentence("The answer of \(server) \(problem)"), status: status, cause: cause)
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
        return RemoteError(code, Self.sentence(explanation(of: code, table: table) + serverText), status: status)
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
        case .refused: "\(server) refuses the request to table '\(table)'"
        case .serverFailure: "\(server) failed on the request to table '\(table)'; its log says more"
        case .invalidResponse where (300...399).contains(status):
            "\(server) redirects\(redirectionTarget), which is not followed, because it would take data and"
                + " credentials elsewhere; use the final address"
        case .invalidResponse where looksLikeHTML:
            "\(server) has a web page where table '\(table)' should be; check the address and the table's name"
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

    private var looksLikeHTML: Bool {
        fields[.contentType]?.lowercased().contains("html") ?? false
            || body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "<")
    }
}
