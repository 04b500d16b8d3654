import DatasyncHTTP
import Foundation
import HTTPTransport
import RemoteContract
import SyncContract
import Synchronization

/// Writes down requests and gives the same answer to all. For tests of what is sent, not of what comes of it.
final class RecordingTransport: ClientTransport {
    private let sent = Mutex<[HTTPRequest]>([])
    private let answer: String

    init(answer: String = #"{"id":"a1","version":"V9"}"#) { self.answer = answer }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        sent.withLock { $0.append(request) }
        return HTTPResponse(status: .ok, body: Array(answer.utf8))
    }

    /// Method, path and body of every request, a line each, and the condition if there is one.
    var lines: [String] {
        sent.withLock { sent in
            sent.map { request in
                [
                    request.method.rawValue, request.path ?? "",
                    request.headerFields[.ifMatch].map { "If-Match: " + $0 },
                    request.body.map { String(decoding: $0, as: UTF8.self) },
                ]
                .compactMap { $0 }.joined(separator: " ")
            }
        }
    }

    /// The header fields of the last request.
    var fields: [String: String] {
        sent.withLock { sent in
            Dictionary(
                (sent.last?.headerFields ?? [:]).map { ($0.name.rawName, $0.value) },
                uniquingKeysWith: { $0 + " and " + $1 }
            )
        }
    }

    /// The type of content of every request; nil for one that has none.
    var contentTypes: [String?] { sent.withLock { $0.map { $0.headerFields[.contentType] } } }

    var lastRequest: HTTPRequest? { sent.withLock { $0.last } }
    var lastTimeout: Duration? { sent.withLock { $0.last?.timeout } }
}

extension DatasyncRemote {
    /// A remote at https://example.org that sends into the given transport.
    static func recording(
        _ dialect: DatasyncDialect,
        into transport: RecordingTransport,
        base: String = "https://example.org",
        options: DatasyncOptions = DatasyncOptions(),
        authentication: (any RequestAuthentication)? = nil
    ) throws(RemoteError) -> DatasyncRemote {
        try DatasyncRemote(
            baseURL: URL(string: base)!,
            dialect: dialect,
            options: options,
            authentication: authentication,
            transport: transport
        )
    }
}
