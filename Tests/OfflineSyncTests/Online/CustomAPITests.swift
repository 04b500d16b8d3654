import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import OfflineSync
import RemoteContract
import SyncContract
import Synchronization
import Testing

@Suite("Custom APIs")
struct CustomAPITests {
    private struct Order: Codable, Sendable, Equatable {
        var number: Int
        var placed: Date
    }

    /// What was asked, and a context whose service answers so.
    private final class Service: Sendable {
        private let asked = Mutex<[EmulatorRequest]>([])
        let answer: EmulatorResponse

        init(_ answer: EmulatorResponse) { self.answer = answer }

        var requests: [EmulatorRequest] { asked.withLock { $0 } }

        func context(_ dialect: DatasyncDialect = .datasync, base: String = "https://emulator.example") throws
            -> SyncContext
        {
            var options = DatasyncOptions()
            options.headerFields = ["X-Key": "k"]
            let transport = EmulatorTransport(Emulator(EmulatorConfiguration(tables: []))) { request, _ in
                self.asked.withLock { $0.append(request) }
                return self.answer
            }
            let remote: DatasyncRemote =
                dialect == .datasync
                ? try .datasync(base, options: options, transport: transport) { AccessToken("t") }
                : try .azureMobileApps(base, options: options, transport: transport) { AccessToken("t") }
            return SyncContext(store: try makeStore(), remote: remote)
        }
    }

    private static let json = #"{"number":7,"placed":"2026-11-22T08:49:37.500Z"}"#
    private static let order = Order(number: 7, placed: Date(timeIntervalSince1970: 1_795_337_377.5))

    @Test("body, parameters and credentials go along, and the answer is read", arguments: DatasyncDialect.allCases)
    func call(_ dialect: DatasyncDialect) async throws {
        let service = Service(
            EmulatorResponse(200, headers: ["Content-Type": "application/json"], body: Data(Self.json.utf8))
        )
        let answer = try await service.context(dialect, base: "https://emulator.example/app")
            .invokeAPI(
                "orders/place it",
                body: Self.order,
                parameters: ["b": "2 & 3", "a & of": "x"],
                as: Order.self
            )
        #expect(answer == Self.order)
        let request = try #require(service.requests.first)
        #expect(request.method == "POST")
        #expect(request.path + "?" + request.query == "/app/api/orders/place%20it?a%20%26%20of=x&b=2%20%26%203")
        #expect(String(decoding: request.body, as: UTF8.self) == Self.json)
        #expect(request.headers["Content-Type"] == "application/json" && request.headers["X-Key"] == "k")
        #expect(request.headers[dialect == .datasync ? "Authorization" : "X-ZUMO-AUTH"]?.hasSuffix("t") == true)
    }

    @Test(
        "a date is sent to the nearest millisecond",
        arguments: [(1_795_337_377.1234567, "123"), (1_795_337_377.1236567, "124")]
    )
    func fineDate(_ seconds: Double, _ milliseconds: String) async throws {
        let service = Service(EmulatorResponse(204))
        let order = Order(number: 7, placed: Date(timeIntervalSince1970: seconds))
        try await service.context().invokeAPI("orders", body: order)
        let body = try #require(service.requests.first?.body)
        #expect(
            String(decoding: body, as: UTF8.self) == #"{"number":7,"placed":"2026-11-22T08:49:37.\#(milliseconds)Z"}"#
        )
    }

    @Test(
        "a date that no number of milliseconds says is refused",
        arguments: [Double.infinity, -.infinity, .nan, 1e17]
    )
    func dateOutOfRange(_ seconds: Double) async throws {
        let service = Service(EmulatorResponse(204))
        let order = Order(number: 7, placed: Date(timeIntervalSince1970: seconds))
        let error = await #expect(throws: SyncError.self) {
            try await service.context().invokeAPI("orders", body: order)
        }
        #expect(error?.code == .invalidParameter && error?.cause is EncodingError)
        #expect(error?.description.contains("Date") == true && error?.description.contains("\(seconds)") == false)
        #expect(service.requests.isEmpty)
    }

    @Test("each method is sent as such, without a body none", arguments: APIMethod.allCases)
    func methods(_ method: APIMethod) async throws {
        let service = Service(EmulatorResponse(204))
        let answer = try await service.context().invokeAPI("completeAll", method: method)
        #expect(answer.status == 204 && answer.body.isEmpty)
        #expect(service.requests.map(\.method) == [method.rawValue])
        #expect(service.requests.allSatisfy { $0.body.isEmpty && $0.headers["Content-Type"] == nil })
    }

    @Test("an answer is given as it came when no type is asked for")
    func raw() async throws {
        let service = Service(EmulatorResponse(202, headers: ["Content-Type": "text/plain"], body: Data("later".utf8)))
        let answer = try await service.context().invokeAPI("x")
        #expect(answer == APIAnswer(status: 202, contentType: "text/plain", body: Array("later".utf8)))
    }

    @Test(
        "every failure has its code, with what the service says and how long to wait",
        arguments: [
            (400, RemoteError.Code.refused), (404, .notFound), (401, .unauthorized), (403, .refused), (409, .refused),
            (410, .refused), (412, .refused), (429, .throttled), (500, .serverFailure), (502, .notTheService),
            (301, .notTheService),
        ]
    )
    func failures(_ status: Int, _ code: RemoteError.Code) async throws {
        let service = Service(
            EmulatorResponse(
                status,
                headers: ["Content-Type": "application/json", "Retry-After": "9"],
                body: Data(#"{"error":"because"}"#.utf8)
            )
        )
        let error = await #expect(throws: RemoteError.self) { try await service.context().invokeAPI("x") }
        #expect(error?.code == code && error?.status == status && error?.retryAfter == .seconds(9))
        if [400, 403, 404, 409, 410, 412, 500].contains(status) { #expect(error?.message.contains("because") == true) }
    }

    @Test("an answer of another form is told, and not quoted")
    func unfitAnswer() async throws {
        let pages = [("application/json", RemoteError.Code.invalidResponse), ("text/html", .notTheService)]
        for (type, code) in pages {
            let service = Service(
                EmulatorResponse(200, headers: ["Content-Type": type], body: Data("[\"secret\"]".utf8))
            )
            let error = await #expect(throws: RemoteError.self) {
                try await service.context().invokeAPI("x", as: Order.self)
            }
            #expect(error?.code == code && error?.description.contains("secret") == false)
        }
    }

    @Test(
        "a name that no address can have, or a GET with a body, sends nothing",
        arguments: ["", "a//b", "..", "a/../b", "/a"]
    )
    func badName(_ name: String) async throws {
        let service = Service(EmulatorResponse(200))
        let error = await #expect(throws: RemoteError.self) { try await service.context().invokeAPI(name) }
        #expect(error?.code == .invalidRequest)
        let get = await #expect(throws: RemoteError.self) {
            try await service.context().invokeAPI("x", method: .get, body: 1)
        }
        #expect(get?.code == .invalidRequest && service.requests.isEmpty)
    }
}
