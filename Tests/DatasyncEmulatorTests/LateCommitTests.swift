import Foundation
import Synchronization
import Testing

@testable import DatasyncEmulator

/// Rows that commit later than their stamp says, and writes that meet meanwhile.
struct LateCommitTests {
    /// Commits wait here until a test lets them through, each on its own.
    final class Gate: Sendable {
        private let waiting = Mutex<[CheckedContinuation<Void, Never>?]>([])
        private let arrivals: AsyncStream<Void>
        private let arrived: AsyncStream<Void>.Continuation

        init() {
            (arrivals, arrived) = AsyncStream.makeStream()
        }

        func pass() async {
            await withCheckedContinuation { continuation in
                waiting.withLock { $0.append(continuation) }
                arrived.yield()
            }
        }

        /// Returns when one more write waits.
        func arrival() async {
            for await _ in arrivals { return }
        }

        /// Lets the write through that came at this place.
        func open(_ place: Int) {
            let continuation = waiting.withLock { waiting in
                defer { waiting[place] = nil }
                return waiting[place]
            }
            continuation?.resume()
        }
    }

    private let gate = Gate()

    private func client(
        _ dialect: EmulatorConfiguration.Dialect = .datasync,
        token: Bool = true,
        softDelete: Bool = true
    ) throws -> Client {
        let gate = gate
        let client = Client(dialect, tables: [.init("todoitem", softDelete: softDelete)]) {
            $0.store.commitDelay = .seconds(1)
            $0.store.hasConcurrencyToken = token
            $0.store.pause = { _ in await gate.pass() }
        }
        try client.emulator.seed([["id": "old", "text": "0", "version": "b2xk"]], in: "todoitem")
        return client
    }

    /// Begins a write and returns when it waits for its commit.
    private func begin(
        _ client: Client,
        _ method: String,
        _ target: String,
        _ headers: HTTPHeaderFields = [:],
        json: JSONValue? = nil
    ) async -> Task<EmulatorResponse, any Error> {
        let task = Task { try await client.send(method, target, headers, json: json) }
        await gate.arrival()
        return task
    }

    @Test(
        "a row that commits late turns up behind a stamp that was already read",
        arguments: [
            EmulatorConfiguration.Dialect.datasync, .azureMobileApps,
        ]
    )
    func overtaken(dialect: EmulatorConfiguration.Dialect) async throws {
        let client = try client(dialect)
        let late = await begin(client, "POST", "/tables/todoitem", json: ["id": "late"])
        let early = await begin(client, "POST", "/tables/todoitem", json: ["id": "early"])
        gate.open(1)
        let earlyStamp = try #require(try await early.value.json["updatedAt"]?.string)
        #expect(try await client.get("/tables/todoitem?$orderby=updatedAt").ids == ["old", "early"])
        #expect(try await client.get("/tables/todoitem/late").status == 404)
        gate.open(0)
        let answer = try await late.value
        #expect(answer.status == 201)
        #expect(try #require(try answer.json["updatedAt"]?.string) < earlyStamp)
        #expect(try await client.get("/tables/todoitem?$orderby=updatedAt").ids == ["old", "late", "early"])
    }

    @Test("reads and refused writes do not wait")
    func unhindered() async throws {
        let client = try client()
        #expect(try await client.get("/tables/todoitem").ids == ["old"])
        #expect(try await client.send("DELETE", "/tables/todoitem/nobody").status == 404)
        #expect(
            try await client.send("PUT", "/tables/todoitem/old", ["If-Match": "\"eA==\""], json: ["id": "old"]).status
                == 412
        )
    }

    @Test(
        "with a concurrency token the second write is a conflict, also without a condition",
        arguments: [
            ["If-Match": "\"b2xk\""], [:],
        ] as [HTTPHeaderFields]
    )
    func token(condition: HTTPHeaderFields) async throws {
        let client = try client()
        let first = await begin(client, "PUT", "/tables/todoitem/old", condition, json: ["id": "old", "text": "1"])
        let second = await begin(client, "PUT", "/tables/todoitem/old", condition, json: ["id": "old", "text": "2"])
        let third = await begin(client, "DELETE", "/tables/todoitem/old", condition)
        gate.open(0)
        #expect(try await first.value.status == 200)
        gate.open(1)
        gate.open(2)
        for loser in [try await second.value, try await third.value] {
            #expect(loser.status == 409)
            #expect(try loser.json["text"] == "1")
            #expect(loser.headers["ETag"] != nil)
        }
        #expect(client.emulator.rows(in: "todoitem").map { $0["text"] } == ["1"])
    }

    @Test("without one both writes succeed and the first is lost")
    func lostUpdate() async throws {
        let client = try client(token: false)
        let condition: HTTPHeaderFields = ["If-Match": "\"b2xk\""]
        let first = await begin(client, "PUT", "/tables/todoitem/old", condition, json: ["id": "old", "text": "1"])
        let second = await begin(client, "PUT", "/tables/todoitem/old", condition, json: ["id": "old", "text": "2"])
        gate.open(0)
        #expect(try await first.value.status == 200)
        gate.open(1)
        #expect(try await second.value.status == 200)
        #expect(client.emulator.rows(in: "todoitem").map { $0["text"] } == ["2"])
    }

    @Test("a change of a row that has gone for good meanwhile is a 500")
    func goneMeanwhile() async throws {
        let client = try client(softDelete: false)
        let first = await begin(client, "DELETE", "/tables/todoitem/old")
        let second = await begin(client, "PUT", "/tables/todoitem/old", json: ["id": "old", "text": "2"])
        gate.open(0)
        #expect(try await first.value.status == 204)
        gate.open(1)
        let late = try await second.value
        #expect(late.status == 500 && late.body.isEmpty)
        #expect(client.emulator.rows(in: "todoitem").isEmpty)
    }

    @Test("of two inserts of one id the later to commit is a 500, in protocol 2 a 409")
    func insertRace() async throws {
        for (dialect, status) in [(EmulatorConfiguration.Dialect.datasync, 500), (.azureMobileApps, 409)] {
            let race = LateCommitTests()
            let client = try race.client(dialect)
            let first = await race.begin(client, "POST", "/tables/todoitem", json: ["id": "a", "text": "1"])
            let second = await race.begin(client, "POST", "/tables/todoitem", json: ["id": "a", "text": "2"])
            race.gate.open(1)
            #expect(try await second.value.status == 201)
            race.gate.open(0)
            #expect(try await first.value.status == status)
            #expect(client.emulator.rows(in: "todoitem").first?["text"] == "2")
        }
    }

    @Test("in protocol 2 a conditional update that waited for another one sees what it did")
    func protocol2() async throws {
        let client = try client(.azureMobileApps)
        let condition: HTTPHeaderFields = ["If-Match": "\"b2xk\""]
        let first = await begin(client, "PATCH", "/tables/todoitem/old", condition, json: ["text": "1"])
        let second = await begin(client, "PATCH", "/tables/todoitem/old", condition, json: ["text": "2"])
        gate.open(0)
        #expect(try await first.value.status == 200)
        gate.open(1)
        #expect(try await second.value.status == 412)
        #expect(client.emulator.rows(in: "todoitem").map { $0["text"] } == ["1"])
    }

    @Test(
        "a write that a reset overtook says that it was not made",
        arguments: EmulatorConfiguration.Dialect.allCases
    )
    func reset(dialect: EmulatorConfiguration.Dialect) async throws {
        let client = try client(dialect)
        let write = await begin(client, "POST", "/tables/todoitem", json: ["id": "a"])
        client.emulator.reset()
        gate.open(0)
        #expect(try await write.value.status == 503)
        #expect(client.emulator.rows(in: "todoitem").isEmpty)
    }

    @Test("the delay is random within its limit and repeats with the seed")
    func seeded() async throws {
        func delays(_ seed: UInt64) async throws -> [Duration] {
            let delays = Mutex<[Duration]>([])
            let client = Client {
                $0.store.commitDelay = .seconds(2)
                $0.store.seed = seed
                $0.store.pause = { duration in delays.withLock { $0.append(duration) } }
            }
            for _ in 0..<20 { _ = try await client.send("POST", "/tables/todoitem", json: [:]) }
            return delays.withLock { $0 }
        }
        let first = try await delays(7)
        #expect(first.count == 20 && Set(first).count > 10)
        #expect(first.allSatisfy { (.zero ... .seconds(2)).contains($0) })
        #expect(try await delays(7) == first)
        #expect(try await delays(8) != first)
    }

    @Test(
        "finer stamps are compared in full and shown in milliseconds",
        arguments: [
            StoreBehaviour.StampResolution.microseconds, .hundredNanoseconds,
        ]
    )
    func fineStamps(resolution: StoreBehaviour.StampResolution) async throws {
        let client = Client {
            $0.store.stamps = resolution
            $0.store.seed = 1
        }
        let row = try await client.send("POST", "/tables/todoitem", json: ["id": "a"]).json
        let shown = try #require(row["updatedAt"]?.string)
        #expect(shown == "2023-11-14T22:13:20.000Z")
        func ids(_ condition: String) async throws -> [String] {
            try await client.get("/tables/todoitem?$filter=" + PercentEncoding.encode(condition)).ids
        }
        #expect(try await ids("updatedAt eq \(shown)").isEmpty)
        #expect(try await ids("updatedAt le \(shown)").isEmpty)
        #expect(try await ids("updatedAt gt \(shown)") == ["a"])
        #expect(try await ids("updatedAt ge \(shown) and updatedAt lt 2023-11-14T22:13:20.001Z") == ["a"])
        #expect(
            try await client.get("/tables/todoitem?$orderby=updatedAt&$filter=updatedAt%20gt%20\(shown)").ids == ["a"]
        )
    }

    @Test("stamps rise by the finest step there is when the clock stands still")
    func manyInOneMillisecond() async throws {
        let client = Client {
            $0.store.stamps = .hundredNanoseconds
            $0.store.seed = 2
        }
        for number in 0..<50 {
            _ = try await client.send("POST", "/tables/todoitem", json: ["id": .string("\(number)")])
        }
        let shown = Set(client.emulator.rows(in: "todoitem").compactMap { $0["updatedAt"]?.string })
        #expect(shown.count <= 2)
        #expect(try await client.get("/tables/todoitem?$orderby=updatedAt").ids == (0..<50).map { "\($0)" })
    }
}
