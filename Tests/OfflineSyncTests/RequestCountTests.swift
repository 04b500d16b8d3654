import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import OfflineSync
import SyncContract
import Testing

@Suite("Two contexts on one remote")
struct RequestCountTests {
    private let emulator = Emulator(EmulatorConfiguration(tables: ["TodoItem"]))
    private let server: InterceptedServer
    private let phone: SyncContext
    private let laptop: SyncContext

    init() throws {
        server = InterceptedServer(
            try DatasyncRemote(
                baseURL: EmulatorTransport.url,
                dialect: .datasync,
                transport: EmulatorTransport(emulator)
            )
        )
        phone = SyncContext(store: try makeStore(), remote: server)
        laptop = SyncContext(store: try makeStore(), remote: server)
    }

    @Test("a push counts its own requests, not those that the other context sends meanwhile", arguments: [false, true])
    func push(isInSameTask: Bool) async throws {
        for id in ["a", "b", "c"] { try await phone.table("TodoItem").insert(["text": "milk"], id: id) }
        server.intercept(.whileUnderWay { [laptop] in try await pull(laptop, isInSameTask, requests: 1) })
        #expect(try await phone.push().requests == 3)
        #expect(emulator.requests.count == 4)
    }

    @Test("a pull counts its own requests, not those that the other context sends meanwhile", arguments: [false, true])
    func pull(isInSameTask: Bool) async throws {
        try emulator.seed((1...250).map { ["id": .string("\($0)"), "text": "milk"] }, in: "TodoItem")
        try await laptop.table("TodoItem").insert(["text": "bread"], id: "a")
        // One of them for rows without a stamp.
        server.afterNextPage { [phone] in try await pull(phone, isInSameTask, requests: 4) }
        let report = try await laptop.pull(Query("TodoItem"), options: .init(reconciles: true))
        #expect(report.requests == 3)
        #expect(report.push?.requests == 1)
        #expect(emulator.requests.count == 8)
    }

    /// Pulls in the task of the request that is under way, or in one that has nothing to do with it.
    private func pull(_ context: SyncContext, _ isInSameTask: Bool, requests: Int) async throws {
        let report =
            isInSameTask
            ? try await context.pull(Query("TodoItem"), queryID: "all")
            : try await Task.detached { try await context.pull(Query("TodoItem"), queryID: "all") }.value
        #expect(report.requests == requests)
    }
}
