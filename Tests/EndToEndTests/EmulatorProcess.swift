import ChildProcesses
import Foundation
import HTTPTransport
import Testing

/// `sealedsync emulator` as a process, with a plain HTTP client beside it that knows nothing of the adapter.
final class EmulatorProcess: Sendable {
    struct Answer {
        var status: Int
        var headers: [String: String]
        var body: Data

        var json: Any? {
            get throws {
                body.isEmpty ? nil : try JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)
            }
        }

        var object: [String: Any] {
            get throws { try #require(try json as? [String: Any]) }
        }
    }

    let url: String
    let protocolNumber: Int
    private let process: ChildProcess
    private let transport = DefaultTransport()

    private init(_ process: ChildProcess, url: String, protocolNumber: Int) {
        self.process = process
        self.url = url
        self.protocolNumber = protocolNumber
    }

    /// Starts an emulator on a free port, lends it, and stops it whatever happens.
    static func with(
        _ protocolNumber: Int,
        _ arguments: [String] = [],
        _ body: (EmulatorProcess) async throws -> Void
    ) async throws {
        let emulator = try await start(protocolNumber, arguments)
        let result: Result<Void, any Error>
        do { result = .success(try await body(emulator)) } catch { result = .failure(error) }
        #expect(await emulator.stop(SIGTERM) == 0, "the emulator stops cleanly")
        try result.get()
    }

    static func start(_ protocolNumber: Int, _ arguments: [String] = []) async throws -> EmulatorProcess {
        let process = try ToolProcess.start(["emulator", "--protocol", "\(protocolNumber)"] + arguments)
        let line = await process.firstLine()
        let prefix = "listening on "
        let scheme = arguments.contains("--tls-certificate") ? "https" : "http"
        try #require(line.hasPrefix(prefix + scheme + "://127.0.0.1:"), "got: \(line)")
        return EmulatorProcess(process, url: String(line.dropFirst(prefix.count)), protocolNumber: protocolNumber)
    }

    /// Sends a signal and returns the exit status.
    func stop(_ signal: Int32) async -> Int32? {
        process.signal(signal)
        return await process.result().status
    }

    /// One request as it is written here.
    func send(
        _ method: String,
        _ path: String,
        _ body: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Answer {
        var request = HTTPRequest(
            method: try #require(HTTPRequest.Method(method)),
            scheme: "http",
            authority: String(url.dropFirst("http://".count)),
            path: path,
            body: body.map { Array($0.utf8) }
        )
        var sent = ["ZUMO-API-VERSION": protocolNumber == 3 ? "3.0.0" : "2.0.0"]
        if body != nil { sent["Content-Type"] = "application/json" }
        for (name, value) in sent.merging(headers, uniquingKeysWith: { $1 }) {
            request.headerFields[try #require(HTTPField.Name(name))] = value
        }
        let response = try await transport.send(request)
        let fields = response.headerFields.map { ($0.name.canonicalName, $0.value) }
        return Answer(
            status: response.status.code,
            headers: Dictionary(fields, uniquingKeysWith: { $0 + ", " + $1 }),
            body: Data(response.body)
        )
    }

    /// The rows of the table that are not deleted: text by id, as the server tells them.
    func texts(_ table: String = "TodoItem") async throws -> [String: String] {
        var texts: [String: String] = [:]
        while true {
            let answer = try await send("GET", "/tables/\(table)?$skip=\(texts.count)")
            let rows = protocolNumber == 3 ? try answer.object["items"] : try answer.json
            let items = try #require(rows as? [[String: Any]])
            guard !items.isEmpty else { return texts }
            for item in items { texts[item["id"] as? String ?? ""] = item["text"] as? String ?? "" }
        }
    }
}
