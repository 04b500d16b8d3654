import DatasyncEmulator
import EmulatorTransport
import RemoteContract
import SyncContract
import Synchronization
import Testing

@testable import DatasyncHTTP

@Suite("A search for text in text", .timeLimit(.minutes(5)))
struct ContainedTextTests {
    private static let query = Query("todo").filtered(by: Column("text").contains("il"))

    @Test("is understood by every server, in the words that it knows", arguments: EmulatedService.allCases)
    func words(_ service: EmulatedService) async throws {
        let emulator = service.emulator()
        try emulator.seed([["id": "a", "text": "milk"], ["id": "b", "text": "bread"]], in: "todo")
        let remote = try service.remote(emulator)
        #expect(try await remote.page(Self.query, of: EmulatedService.table).records.map(\.id) == ["a"])
        for position in [PullPosition.everything, .changes(since: nil)] {
            let page = try await remote.page(Self.query, of: EmulatedService.table, at: position, pageSize: nil)
            #expect(page.records.map(\.id) == ["a"])
        }
        // The first question shows which words they are.
        let refusals = emulator.requests.filter { $0.status == 400 }.count
        #expect(refusals == (service == .predecessorOfProtocol2 ? 1 : 0))
    }

    @Test("that is refused for another reason is refused for that, and teaches nothing")
    func otherRefusal() async throws {
        let emulator = EmulatedService.predecessorOfProtocol2.emulator()
        try emulator.seed([["id": "a", "text": "milk"]], in: "todo")
        let remote = try EmulatedService.predecessorOfProtocol2.remote(emulator)
        let wrong = Self.query.filtered(by: Column("nothing") == 1)
        let error = await #expect(throws: RemoteError.self) {
            try await remote.page(wrong, of: EmulatedService.table)
        }
        #expect(error?.code == .refused && error?.message.contains("nothing") == true)
        #expect(remote.knowledge.withLock(\.isForDotNet) == false)
        #expect(try await remote.page(Self.query, of: EmulatedService.table).records.map(\.id) == ["a"])
    }

    @Test("is asked for in the words of before again when another server has taken the place of the first")
    func movedService() async throws {
        let services = [EmulatedService.predecessorOfProtocol2.emulator(), EmulatedService.node.emulator()]
        for emulator in services { try emulator.seed([["id": "a", "text": "milk"]], in: "todo") }
        let hasMoved = Mutex(false)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .azureMobileApps,
            transport: EmulatorTransport(services[0]) { request, _ in
                guard hasMoved.withLock({ $0 }) else { return try await services[0].handle(request) }
                return request.query.contains("contains")
                    ? EmulatorResponse(500) : try await services[1].handle(request)
            }
        )
        for isMoved in [false, true, false] {
            hasMoved.withLock { $0 = isMoved }
            #expect(try await remote.page(Self.query, of: EmulatedService.table).records.map(\.id) == ["a"])
            #expect(remote.knowledge.withLock(\.isForDotNet) == !isMoved)
        }
    }

    @Test("is asked for in other words only after a refusal of the question")
    func otherFailures() async throws {
        for status in [401, 403, 404, 500] {
            let emulator = EmulatedService.node.emulator()
            let remote = try DatasyncRemote(
                baseURL: EmulatorTransport.url,
                dialect: .azureMobileApps,
                transport: EmulatorTransport(emulator) { _, _ in EmulatorResponse(status) }
            )
            let before = remote.requestCount
            await #expect(throws: RemoteError.self) { try await remote.page(Self.query, of: EmulatedService.table) }
            #expect(remote.requestCount == before + 1)
        }
    }
}
