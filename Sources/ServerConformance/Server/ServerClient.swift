internal import Foundation
internal import HTTPTransport
internal import Synchronization

/// Sends requests to one table of one server.
final class ServerClient: Sendable {
    let serverProtocol: ServerProtocol
    let table: String
    private let scheme: String
    private let authority: String
    private let tablePath: String
    private let extraFields: HTTPFields
    private let transport: any ClientTransport

    private struct State {
        var isStopped = false
        var running: [Int: Task<HTTPResponse, any Error>] = [:]
        var nextNumber = 0
    }

    private let state = Mutex(State())

    convenience init(
        url: URL,
        table: String,
        _ serverProtocol: ServerProtocol,
        _ options: TransportOptions,
        extraFields: HTTPFields = HTTPFields()
    ) {
        var options = options
        // A server that sends without end must not fill the memory.
        options.maximumBodySize = Self.maximumBodySize
        // A server may close a kept connection whenever it likes: a request that met that would look like its fault.
        options.maximumIdleTime = .zero
        self.init(url: url, table: table, serverProtocol, DefaultTransport(options), extraFields: extraFields)
    }

    init(
        url: URL,
        table: String,
        _ serverProtocol: ServerProtocol,
        _ transport: any ClientTransport,
        extraFields: HTTPFields = HTTPFields()
    ) {
        self.serverProtocol = serverProtocol
        self.table = table
        scheme = url.scheme?.lowercased() ?? "http"
        let host = url.host(percentEncoded: true) ?? ""
        let bracketed = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        authority = bracketed + (url.port.map { ":\($0)" } ?? "")
        let base = url.path(percentEncoded: true)
        tablePath =
            (base.hasSuffix("/") ? String(base.dropLast()) : base) + "/tables/" + ServerRequest.encoded(table)
        self.transport = transport
        self.extraFields = extraFields
    }

    private static let maximumBodySize = 16 * 1_024 * 1_024

    /// The table's address, for people.
    var address: String { "\(scheme)://\(authority)\(tablePath)" }

    /// Where the server itself is, for people.
    var server: String { "\(scheme)://\(authority)" }

    /// The path of another table.
    func path(ofTable name: String) -> String {
        String(tablePath.dropLast(ServerRequest.encoded(table).count)) + ServerRequest.encoded(name)
    }

    /// Path and query of another page: of a link as far as it says something, else the table's.
    func path(following link: String) -> String? {
        if link.hasPrefix("/") { return link }
        guard link.lowercased().hasPrefix("http") else {
            return tablePath + "?" + (link.hasPrefix("?") ? String(link.dropFirst()) : link)
        }
        guard link.lowercased().hasPrefix("\(scheme)://\(authority)/".lowercased()) else { return nil }
        return String(link.dropFirst("\(scheme)://\(authority)".count))
    }

    /// Sends a request.
    ///
    /// - Throws: ``NoResponse`` when none came or it is not HTTP; `CancellationError` after ``stop()``.
    func send(_ request: ServerRequest, path: String? = nil, evenWhenStopped: Bool = false) async throws
        -> ServerResponse
    {
        let text = path.map { "\(request.method) \($0)" } ?? request.description(table: table)
        guard let method = HTTPRequest.Method(request.method) else {
            throw NoResponse(request: text, reason: "'\(request.method)' is not a method", isUnreachable: false)
        }
        let query = request.queryText
        let http = HTTPRequest(
            method: method,
            scheme: scheme,
            authority: authority,
            path: path ?? (tablePath + request.suffix + (query.isEmpty ? "" : "?" + query)),
            headerFields: fields(of: request),
            body: request.body
        )
        do {
            let response = try await exchange(http, evenWhenStopped: evenWhenStopped)
            return ServerResponse(
                request: text,
                status: response.status.code,
                headers: response.headerFields,
                body: response.body
            )
        } catch let error as TransportError {
            let isReached = [.invalidRequest, .tooLarge, .invalidResponse].contains(error.code)
            throw NoResponse(request: text, reason: error.message, isUnreachable: !isReached)
        }
    }

    private func fields(of request: ServerRequest) -> HTTPFields {
        var all: [String: String?] = ["ZUMO-API-VERSION": serverProtocol.version, "Accept": "application/json"]
        if request.body != nil { all["Content-Type"] = "application/json" }
        all.merge(request.headers) { $1 }
        var fields = extraFields
        for (name, value) in all.sorted(by: { $0.key < $1.key }) {
            if let name = HTTPField.Name(name), let value { fields[name] = value }
        }
        return fields
    }

    // MARK: Stopping

    /// Ends what is under way, and refuses whatever comes but cleaning up.
    func stop() {
        let running = state.withLock { state in
            state.isStopped = true
            return Array(state.running.values)
        }
        for task in running { task.cancel() }
    }

    private func exchange(
        _ request: HTTPRequest,
        evenWhenStopped: Bool
    ) async throws -> HTTPResponse {
        let transport = transport
        let (number, task) = try state.withLock { state in
            if state.isStopped, !evenWhenStopped { throw CancellationError() }
            // Not a child of the caller's task: a rule whose time is up is still to delete its rows.
            let task = Task.detached { try await transport.send(request) }
            state.nextNumber += 1
            state.running[state.nextNumber] = task
            return (state.nextNumber, task)
        }
        defer { state.withLock { state in state.running[number] = nil } }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            if !evenWhenStopped { task.cancel() }
        }
    }
}
