import DatasyncHTTP
import Foundation
import HTTPTransport
import RemoteContract
import Synchronization
import SyncContract
import Testing

@Suite("Rows that do not fit their table, one by one")
struct UnfitRowTests {
    private static let table = TableDefinition("todo", columns: [.init("text", .string)])

    /// Answers with a row that does not fit its table to one method, and with one that does to others.
    private final class Server: ClientTransport {
        let unfitMethod: HTTPRequest.Method
        let requests = Mutex<[HTTPRequest]>([])

        init(_ unfitMethod: HTTPRequest.Method) { self.unfitMethod = unfitMethod }

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            requests.withLock { $0.append(request) }
            let body =
                request.method == unfitMethod
                ? #"{"id":"a","text":7,"version":"v2"}"# : #"{"id":"a","text":"mine","version":"v3"}"#
            return HTTPResponse(status: .ok, body: Array(body.utf8))
        }
    }

    private func update(_ server: Server, restoring: Bool) async throws -> Record {
        let url = try #require(URL(string: "https://example.org"))
        let remote = try DatasyncRemote(baseURL: url, dialect: .azureMobileApps, transport: server)
        let row = Record(id: "a", ["text": "mine"])
        return try await remote.update(row, in: Self.table, version: "v1", restoring: restoring)
    }

    @Test("a row that does not fit when it is back is written with what was to be brought back")
    func restoredInSteps() async throws {
        let server = Server(.post)
        #expect(try await update(server, restoring: true).version == "v3")
        let requests = server.requests.withLock { $0 }
        #expect(requests.map(\.method) == [.post, .patch])
        #expect(requests.last?.headerFields[.ifMatch] == "\"v2\"")
    }

    @Test("a row that was written and does not fit is told with its id and version")
    func written() async throws {
        let server = Server(.patch)
        let error = await #expect(throws: RemoteError.self) { _ = try await update(server, restoring: false) }
        #expect(error?.code == .unfitRow && error?.status == 200)
        #expect(error?.serverRecord == Record(id: "a", ["version": "v2"]))
    }
}
