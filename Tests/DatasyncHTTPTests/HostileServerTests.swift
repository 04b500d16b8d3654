import DatasyncEmulator
import DatasyncHTTP
import FixedPorts
import Foundation
import HTTPTransport
import RemoteContract
import ScriptedServer
import SyncContract
import Testing

@Suite("The adapter against servers that misbehave", .timeLimit(.minutes(5)))
struct HostileServerTests {
    private static let table = TableDefinition("todo", columns: [.init("text", .string)])
    private static let row = Record(id: "a1", ["text": "milk"])

    private func remote(
        _ server: ScriptedServer,
        timeout: Duration = .seconds(20),
        transport: any ClientTransport = DefaultTransport()
    ) throws -> DatasyncRemote {
        var options = DatasyncOptions()
        options.requestTimeout = timeout
        return try DatasyncRemote(baseURL: server.url, dialect: .datasync, options: options, transport: transport)
    }

    private static func transport(maximumBodySize: Int) -> DefaultTransport {
        var options = TransportOptions()
        options.maximumBodySize = maximumBodySize
        return DefaultTransport(options)
    }

    /// The error of an insert against a server that does what the script says.
    private func error(
        timeout: Duration = .seconds(20),
        maximumBodySize: Int = TransportOptions().maximumBodySize,
        _ steps: [ScriptedServer.Step]
    ) async throws -> RemoteError {
        let server = try ScriptedServer { _ in steps }
        let transport = Self.transport(maximumBodySize: maximumBodySize)
        let remote = try remote(server, timeout: timeout, transport: transport)
        return try #require(
            await #expect(throws: RemoteError.self) { try await remote.insert(Self.row, into: Self.table) }
        )
    }

    @Test("a page for browsers with status 200 is no row, and the message asks what stands in between")
    func html() async throws {
        let page = response("200 OK", "<!DOCTYPE html><p>Sign in</p>", fields: ["Content-Type: text/html"])
        let error = try await error([.send(Array(page.utf8))])
        #expect(error.code == .notTheService)
        #expect(error.message.contains("login page"))
        #expect(error.status == 200)
    }

    @Test("a page for browsers is not taken for a deletion")
    func htmlDelete() async throws {
        let server = try ScriptedServer(
            answering: response("200 OK", "<html></html>", fields: ["Content-Type: text/html"])
        )
        let remote = try remote(server)
        let error = try #require(
            await #expect(throws: RemoteError.self) { try await remote.delete("a1", from: Self.table, version: nil) }
        )
        #expect(error.code == .notTheService)
    }

    @Test(
        "an answer that is not the row is refused",
        arguments: [
            "", "{", "[]", "null", "\"text\"", "{}", #"{"id":""}"#, #"{"id":"b2"}"#, #"{"id":7}"#,
            #"{"id":"A1"}"#, #"{"id":"a1","text":7}"#, #"{"id":"a1"} trailing"#,
        ]
    )
    func noRow(_ body: String) async throws {
        let error = try await error([.send(Array(response("201 Created", body).utf8))])
        #expect(error.code == (body.contains("text") && body.hasPrefix("{") ? .unfitRow : .invalidResponse))
    }

    @Test("a row that was stored under an id of the server's is refused: sent again, it would be there twice")
    func foreignID() async throws {
        let error = try await error([
            .send(Array(response("201 Created", #"{"id":"s1","text":"milk","version":"V"}"#).utf8))
        ])
        #expect(error.status == 201)
        #expect(error.serverRecord?.id == "s1" && error.serverRecord?["text"] == "milk")
        #expect(error.message.contains("an id of its own"))
        #expect(error.code == .storedUnderAnotherID)
    }

    @Test(
        "in protocol 3 a bare list confirms no table, as whatever answers everything with an empty list may be there",
        arguments: ["[]", #"[{"id":"a1"}]"#, #"{"results":[],"count":0}"#]
    )
    func confirmation(_ body: String) async throws {
        let server = try ScriptedServer(answering: response("200 OK", body))
        let error = try #require(
            await #expect(throws: RemoteError.self) { try await remote(server).confirm(Self.table) }
        )
        #expect(error.code == .notFound)
        // Servers of protocol 2 have these answers.
        try await DatasyncRemote(baseURL: server.url, dialect: .azureMobileApps).confirm(Self.table)
    }

    @Test("a link that leads on farther than any table reaches is refused", arguments: [true, false])
    func endlessLink(_ isOfChanges: Bool) async throws {
        let server = try ScriptedServer { request in
            let isFirst = !request.target.contains("skip")
            let page =
                isFirst ? #"{"items":[],"nextLink":"$skip=\#(Int.max)"}"# : #"{"items":[{"id":"a1","text":"milk"}]}"#
            return [.send(Array(response("200 OK", page).utf8))]
        }
        let remote = try remote(server)
        var position: PullPosition? = isOfChanges ? .changes(since: nil) : .everything
        let error = await #expect(throws: RemoteError.self) {
            while let next = position {
                position = try await remote.page(Query("todo"), of: Self.table, at: next, pageSize: nil).next
            }
        }
        #expect(error?.code == .invalidResponse)
    }

    @Test("invalid UTF-8 in an answer is refused")
    func invalidUTF8() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 25\r\nConnection: close\r\n\r\n{\"id\":\"a1\",\"text\":\"mi"
        let error = try await error([.send(Array(head.utf8) + [0xC3, 0x28] + Array("\"}".utf8))])
        #expect(error.code == .invalidResponse)
    }

    @Test("a failure carries its status and what the server says")
    func serverFailure() async throws {
        let error = try await error([.send(Array(response("500 Oops", #"{"error":"out of disk"}"#).utf8))])
        #expect(error.code == .serverFailure)
        #expect(error.status == 500)
        #expect(error.message.contains("out of disk"))
    }

    @Test("closing without an answer, and resetting the connection, is unreachable", arguments: [false, true])
    func closing(_ resets: Bool) async throws {
        let error = try await error(resets ? [.reset] : [])
        #expect(error.code == .unreachable)
        #expect(error.status == nil)
    }

    @Test("half an answer is unreachable, never a shorter row")
    func halfAnAnswer() async throws {
        let whole = response("200 OK", #"{"id":"a1"}"#).replacing("Content-Length: 11", with: "Content-Length: 500")
        #expect(try await error([.send(Array(whole.utf8))]).code == .unreachable)
    }

    @Test(
        "a head that breaks off is unreachable over plain HTTP",
        arguments: ["H", "HTTP/1.1", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 204 N\r\n"]
    )
    func halfAHeadOverSockets(_ head: String) async throws {
        let server = try ScriptedServer(answering: head)
        let remote = try remote(server)
        let insert = await #expect(throws: RemoteError.self) { try await remote.insert(Self.row, into: Self.table) }
        #expect(insert?.code == .unreachable)
        let deletion = await #expect(throws: RemoteError.self) {
            try await remote.delete("a1", from: Self.table, version: nil)
        }
        #expect(deletion?.code == .unreachable)
    }
    @Test("a chunked answer that breaks off is unreachable")
    func halfAChunk() async throws {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n{\"id\":\"a1\"}\r\n"
        #expect(try await error([.send(Array(text.utf8))]).code == .unreachable)
        let whole = try ScriptedServer(answering: text + "0\r\n\r\n")
        #expect(try await remote(whole).insert(Self.row, into: Self.table).id == "a1")
    }

    @Test(
        "what is not HTTP, or hardly, is an error",
        arguments: [
            "SSH-2.0-OpenSSH_9.2\r\n", "\r\n\r\n", "{\"id\":\"a1\"}", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 99\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 1234 Far\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\n: nameless\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nplain",
            "HTTP/1.1 200\r\n\r\n", "HTTP/1.1 200 OK\n\n",
        ]
    )
    func noHTTP(_ text: String) async throws {
        let error = try await error(timeout: .seconds(5), [.send(Array(text.utf8))])
        #expect([.unreachable, .invalidResponse, .notTheService].contains(error.code), "\(error)")
    }

    @Test("silence ends at the timeout, and the message names the server")
    func silence() async throws {
        let server = try ScriptedServer { _ in [.silence] }
        let remote = try remote(server, timeout: .milliseconds(200))
        let error = try #require(
            await #expect(throws: RemoteError.self) { try await remote.insert(Self.row, into: Self.table) }
        )
        #expect(error.code == .unreachable)
        #expect(error.message.contains("127.0.0.1:\(server.port)"))
    }

    @Test("a server that drips runs out of time as well")
    func drip() async throws {
        let bytes = Array(response("200 OK", #"{"id":"a1"}"#).utf8)
        let error = try await error(timeout: .milliseconds(500), [.drip(bytes, milliseconds: 100)])
        #expect(error.code == .unreachable)
        #expect(error.message.contains("within 0.5 seconds"))
    }

    @Test("an answer beyond the limit is cut off while it arrives")
    func flood() async throws {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n".utf8)
        let spaces = [UInt8](repeating: 0x20, count: 65_536)
        let error = try await error(
            maximumBodySize: 1 << 20,
            [.send(head), .flood(spaces, total: 104_857_600)]
        )
        #expect(error.code == .invalidResponse)
        #expect(error.message.contains("1048576 bytes"))
    }

    @Test("an answer of exactly the limit is taken")
    func limit() async throws {
        let body = #"{"id":"a1"}"#
        let server = try ScriptedServer(answering: response("200 OK", body))
        let exact = try remote(server, transport: Self.transport(maximumBodySize: body.utf8.count))
        #expect(try await exact.insert(Self.row, into: Self.table).id == "a1")
        let tooSmall = try remote(server, transport: Self.transport(maximumBodySize: body.utf8.count - 1))
        await #expect(throws: RemoteError.self) { try await tooSmall.insert(Self.row, into: Self.table) }
    }

    @Test(
        "a redirect is not followed, so that nobody else sees the request",
        arguments: ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"]
    )
    func redirect(_ status: String) async throws {
        let other = try ScriptedServer(answering: response("200 OK", #"{"id":"a1"}"#))
        let server = try ScriptedServer(
            answering: response(status, fields: ["Location: \(other.url)/tables/todo?secret=1"])
        )
        let remote = try remote(server)
        let error = try #require(
            await #expect(throws: RemoteError.self) { try await remote.insert(Self.row, into: Self.table) }
        )
        #expect(error.code == .notTheService)
        #expect(error.message.contains("redirect"))
        #expect(!error.message.contains("secret"))
        #expect(other.requests.isEmpty)
    }

    @Test("cookies are neither kept nor sent")
    func cookies() async throws {
        let server = try ScriptedServer(
            answering: response(
                "200 OK",
                #"{"id":"a1"}"#,
                fields: ["Content-Type: application/json", "Set-Cookie: who=me; Path=/"]
            )
        )
        let remote = try remote(server)
        for _ in 1...2 { _ = try await remote.insert(Self.row, into: Self.table) }
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0.fields["cookie"] == nil })
    }

    @Test(
        "a 401 is unauthorized, whatever it asks for, and nobody is asked",
        arguments: [
            "Basic realm=\"x\"", "Bearer", "Bearer error=\"invalid_token\"", "Digest realm=\"x\", nonce=\"y\"",
            "Negotiate", "NTLM", "", "Basic", ",,=", "Basic realm=\"x",
        ]
    )
    func challenge(_ challenge: String) async throws {
        let text = response("401 Unauthorized", #"{"error":"who?"}"#, fields: ["WWW-Authenticate: " + challenge])
        let error = try await error(timeout: .seconds(5), [.send(Array(text.utf8))])
        #expect(error.code == .unauthorized)
        #expect(error.message.contains("who?") || error.message.contains("sign in"))
    }

    @Test(
        "a redirect without a usable address is not the service's answer",
        arguments: [[], ["Location: "], ["Location: ://"], ["Location: /x y"], ["Location: ftp://example.org/"]]
    )
    func redirectToNowhere(_ fields: [String]) async throws {
        for status in ["301 Moved", "304 Not Modified", "307 Temporary"] {
            let error = try await error([.send(Array(response(status, fields: fields).utf8))])
            #expect(error.code == .notTheService, "\(error)")
        }
    }

    @Test("a refused connection names host and port, and nothing else of the address")
    func refusedConnection() async throws {
        // A port that nobody else gets.
        let server = EmulatorServer(EmulatorConfiguration(tables: []))
        let port = try #require(try await server.startOnFixedPort().port)
        await server.stop()
        let url = try #require(URL(string: "http://localhost:\(port)"))
        let remote = try DatasyncRemote(baseURL: url, dialect: .datasync)
        let error = try #require(
            await #expect(throws: RemoteError.self) {
                try await remote.delete("secret", from: Self.table, version: nil)
            }
        )
        #expect(error.code == .unreachable)
        #expect(error.message.contains("localhost:\(port)"))
        #expect(!error.description.contains("secret"))
    }

    @Test("many requests at once are kept apart, and each is counted")
    func concurrency() async throws {
        let server = try ScriptedServer { request in
            let id = request.target.split(separator: "/").last?.split(separator: "?").first ?? ""
            return [.send(Array(response("200 OK", #"{"id":"\#(id)","text":"for \#(id)"}"#).utf8))]
        }
        let remote = try remote(server)
        try await withThrowingTaskGroup(of: Record?.self) { group in
            for number in 0..<60 { group.addTask { try await remote.record("id\(number)", in: Self.table) } }
            var found: Set<Record> = []
            for try await record in group {
                let record = try #require(record)
                #expect(record["text"] == .string("for \(record.id.stringValue ?? "")"))
                found.insert(record)
            }
            #expect(found.count == 60)
        }
        #expect(remote.requestCount == 60)
    }

    @Test("a row of several megabytes arrives whole, both ways")
    func largeRow() async throws {
        let text = String(repeating: "milk und Öl ", count: 300_000)
        let server = try ScriptedServer { [.send(Array(response("201 Created", $0.body).utf8))] }
        let stored = try await remote(server).insert(Record(id: "a1", ["text": .string(text)]), into: Self.table)
        #expect(stored["text"] == .string(text))
    }

    @Test("cancelling the task ends a request that waits for an answer")
    func cancellation() async throws {
        let arrived = AsyncStream<Void>.makeStream()
        let gone = AsyncStream<Void>.makeStream()
        let server = try ScriptedServer { _ in
            arrived.continuation.yield()
            return [.silence, .perform { gone.continuation.yield() }]
        }
        let remote = try remote(server)
        let task = Task { try await remote.insert(Self.row, into: Self.table) }
        for await _ in arrived.stream { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(remote.requestCount == 1)
        // The connection is given up as well, or the server would go on for nobody.
        for await _ in gone.stream { break }
    }

    @Test("a task that is cancelled already sends nothing")
    func cancelledBefore() async throws {
        let server = try ScriptedServer(answering: response("200 OK", #"{"id":"a1"}"#))
        let remote = try remote(server)
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await remote.insert(Self.row, into: Self.table)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.requests.isEmpty)
        #expect(remote.requestCount == 0)
    }
}
