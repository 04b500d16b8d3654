import SQLCipherStoreTestSupport
import SeededNumbers
import SyncContract
import Synchronization
import Testing

@testable import SQLCipherStore

@Suite("Live queries")
struct ObservationTests {
    private struct Refusal: Error, Equatable {}

    private static let all = Query("items")

    private func write(_ number: Int64, to id: RecordID = "1", _ store: ObservedStore) async throws {
        try await store.upsert([Record(id: id, ["int": .int64(number)])], table: "items")
    }

    @Test(
        "the first result comes at once, also an empty one, then one after each commit",
        arguments: ObservedStore.Kind.allCases
    )
    func results(_ kind: ObservedStore.Kind) async throws {
        try await ObservedStore.with(kind) { store in
            var results = store.observe(Self.all.countingAll().limited(to: 1)).makeAsyncIterator()
            #expect(try await results.next() == QueryResult(records: [], totalCount: 0))
            try await write(1, store)
            #expect(try await results.next()?.records.map { $0["int"] } == [1])
            try await write(2, to: "2", store)
            let next = try #require(try await results.next())
            #expect(next.records.map { $0["int"] } == [1])
            #expect(next.totalCount == 2)
            try await store.delete(Self.all)
            #expect(try await results.next() == QueryResult(records: [], totalCount: 0))
        }
    }

    @Test("one record and a count are observed as well", arguments: ObservedStore.Kind.allCases)
    func recordAndCount(_ kind: ObservedStore.Kind) async throws {
        try await ObservedStore.with(kind) { store in
            var record = store.observe("1", in: "items").makeAsyncIterator()
            var count = store.observeCount(Self.all.filtered(by: Column("int") > 5)).makeAsyncIterator()
            #expect(try await record.next() == .some(.none))
            #expect(try await count.next() == 0)
            // This one is no change to either of them.
            try await write(1, to: "2", store)
            try await write(7, store)
            #expect(try await record.next()??["int"] == 7)
            #expect(try await count.next() == 1)
            try await store.deleteItems(withIDs: ["1"], table: "items")
            #expect(try await record.next() == .some(.none))
            #expect(try await count.next() == 0)
        }
    }

    @Test("a commit that leaves the result as it was gives nothing", arguments: ObservedStore.Kind.allCases)
    func onlyWhenChanged(_ kind: ObservedStore.Kind) async throws {
        try await ObservedStore.with(kind) { store in
            try await write(1, store)
            let observing = Task {
                var results: [[FieldValue?]] = []
                for try await result in store.observe(Self.all.filtered(by: Column("int") < 10)) {
                    results.append(result.records.map { $0["int"] })
                    if results.last == [2] { break }
                }
                return results
            }
            while store.reads == 0 { await Task.yield() }
            // Each of these is read, because the observer waits, and found equal.
            for number in 1...5 {
                try await write(1, store)
                try await write(100, to: "2", store)
                while store.reads < 1 + number { await Task.yield() }
            }
            try await write(2, store)
            #expect(try await observing.value == [[1], [2]])
        }
    }

    @Test(
        "a commit between a read and the delivery of its result is not missed",
        arguments: ObservedStore.Kind.allCases
    )
    func interrupted(_ kind: ObservedStore.Kind) async throws {
        try await ObservedStore.with(kind) { store in
            var results = store.observe(Self.all).makeAsyncIterator()
            for number: Int64 in 1...3 {
                store.interruptNextRead { try await write(number, store) }
                let seen = try await results.next()
                #expect(seen?.records.map { $0["int"] } == (number == 1 ? [] : [.int64(number - 1)]))
            }
            #expect(try await results.next()?.records.map { $0["int"] } == [3])
        }
    }

    @Test(
        "a write that is rolled back, writes nothing, or writes another table is not even read",
        arguments: ObservedStore.Kind.allCases
    )
    func untouched(_ kind: ObservedStore.Kind) async throws {
        try await ObservedStore.with(kind) { store in
            let results = Results(store.observe(Self.all))
            _ = try await results.next()
            #expect(store.reads == 1)
            async let next = results.next()
            await #expect(throws: Refusal()) {
                try await store.write { transaction in
                    try transaction.upsert([Record(id: "x")], into: "items")
                    throw Refusal()
                }
            }
            try await store.upsert([Record(id: "1")], table: "folding")
            try await store.deleteItems(withIDs: ["absent"], table: "items")
            try await store.upsert([], table: "items")
            try await write(1, store)
            #expect(try await next?.records.map(\.id) == ["1"])
            #expect(store.reads == 2)
        }
    }

    @Test(
        "a slow consumer gets the newest state only, and nothing is read before it asks",
        arguments: ObservedStore.Kind.allCases
    )
    func coalesced(_ kind: ObservedStore.Kind) async throws {
        try await ObservedStore.with(kind) { store in
            var results = store.observe(Self.all).makeAsyncIterator()
            #expect(store.reads == 0)
            _ = try await results.next()
            for number in 0..<100 { try await write(Int64(number), store) }
            #expect(store.reads == 1)
            #expect(try await results.next()?.records.map { $0["int"] } == [99])
            #expect(store.reads == 2)
            // What was written before the first element was asked for is in it.
            var late = store.observe(Self.all).makeAsyncIterator()
            try await write(100, store)
            #expect(try await late.next()?.records.map { $0["int"] } == [100])
            try await write(101, store)
            #expect(try await late.next()?.records.map { $0["int"] } == [101])
        }
    }

    @Test(
        "under concurrent writers every element is new and no transaction torn, and the last is the final state",
        arguments: ObservedStore.Kind.allCases
    )
    func noMiss(_ kind: ObservedStore.Kind) async throws {
        let seed = SeededGenerator.seed()
        try await ObservedStore.with(kind) { store in
            let observers = (0..<6).map { number in Task { try await lastResult(Self.all(from: number), store) } }
            let writers = (0..<3)
                .map { number in Task { try await writePairs(SeededGenerator(seed: seed &+ number), store) } }
            for writer in writers { try await writer.value }
            try await writePair("end", 100, store)
            for (number, observer) in observers.enumerated() {
                let expected = try await store.read(Self.all(from: Int64(number)))
                #expect(try await observer.value == expected)
            }
        }
    }

    private static func all(from number: Int64) -> Query { all.filtered(by: Column("int") >= .int64(number)) }

    /// Both rows of a pair are written in one transaction.
    private func writePair(_ pair: String, _ number: Int64, _ store: ObservedStore) async throws {
        let values: [String: FieldValue] = ["int": .int64(number), "text": .string(pair)]
        try await store.upsert(["a", "b"].map { Record(id: .string(pair + $0), values) }, table: "items")
    }

    private func writePairs(_ generator: SeededGenerator, _ store: ObservedStore) async throws {
        var generator = generator
        for _ in 0..<60 {
            let pair = "\(Int.random(in: 0..<8, using: &generator))"
            if Int.random(in: 0..<4, using: &generator) == 0 {
                try await store.deleteItems(withIDs: [.string(pair + "a"), .string(pair + "b")], table: "items")
            } else {
                try await writePair(pair, .random(in: 0..<8, using: &generator), store)
            }
        }
    }

    /// Observes until the pair named `end` is there.
    private func lastResult(_ query: Query, _ store: ObservedStore) async throws -> QueryResult? {
        var last: QueryResult?
        for try await result in store.observe(query) {
            #expect(result != last)
            #expect(Dictionary(grouping: result.records) { $0["text"] }.values.allSatisfy { $0.count == 2 })
            last = result
            if result.records.contains(where: { $0["text"] == "end" }) { break }
        }
        return last
    }

    @Test(
        "cancelling the waiting task ends the sequence without an error and unsubscribes",
        arguments: ObservedStore.Kind.allCases
    )
    func cancellation(_ kind: ObservedStore.Kind) async throws {
        try await ObservedStore.with(kind) { store in
            let elements = Mutex(0)
            let observing = Task {
                for try await _ in store.observe(Self.all) { elements.withLock { $0 += 1 } }
            }
            while elements.withLock({ $0 }) == 0 { await Task.yield() }
            #expect(store.subscriptions == 1)
            observing.cancel()
            try await observing.value
            #expect(store.subscriptions == 0)
            #expect(elements.withLock { $0 } == 1)

            let cancelledBefore = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                for try await _ in store.observe(Self.all) { Issue.record("an element after cancellation") }
            }
            try await cancelledBefore.value
            #expect(store.subscriptions == 0)
        }
    }

    @Test(
        "leaving the loop and dropping an iterator unsubscribe; making a sequence does not subscribe",
        arguments: ObservedStore.Kind.allCases
    )
    func dropping(_ kind: ObservedStore.Kind) async throws {
        try await ObservedStore.with(kind) { store in
            let sequence = store.observe(Self.all)
            #expect(store.subscriptions == 0)
            for try await _ in sequence { break }
            #expect(store.subscriptions == 0)
            do {
                var first = sequence.makeAsyncIterator()
                let second = sequence.makeAsyncIterator()
                _ = try await first.next()
                withExtendedLifetime(second) { #expect(store.subscriptions == 2) }
            }
            #expect(store.subscriptions == 0)
            #expect(store.reads == 2)
        }
    }

    @Test("an error of the read is thrown, ends the sequence and unsubscribes", arguments: ObservedStore.Kind.allCases)
    func failures(_ kind: ObservedStore.Kind) async throws {
        try await ObservedStore.with(kind) { store in
            #expect(try await code { for try await _ in store.observe(Query("absent")) {} } == .tableNotFound)
            #expect(try await code { for try await _ in store.observe(1, in: "items") {} } == .invalidRecord)
            let query = Self.all.ordered(by: "absent")
            #expect(try await code { for try await _ in store.observe(query) {} } == .invalidQuery)
            #expect(store.subscriptions == 0)

            var results =
                store.observe(tables: ["items"]) { reader in
                    guard try reader.count(Self.all) == 0 else { throw Refusal() }
                    return 0
                }
                .makeAsyncIterator()
            #expect(try await results.next() == 0)
            try await write(1, store)
            await #expect(throws: Refusal()) { try await results.next() }
            #expect(store.subscriptions == 0)
            #expect(try await results.next() == nil)
        }
    }

    @Test("closing the store ends the sequences of those who wait, who are late, and who come after")
    func closing() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let waiting = Results(store.observe(Self.all))
        _ = try await waiting.next()
        async let next = waiting.next()
        var late = store.observe(Self.all).makeAsyncIterator()
        _ = try await late.next()
        try await store.upsert([Record(id: "1")], table: "items")
        #expect(try await next?.records.count == 1)
        async let end = waiting.next()
        await store.close()
        #expect(try await end == nil)
        #expect(try await late.next() == nil)
        for try await _ in store.observe(Self.all) { Issue.record("an element of a closed store") }
    }

    @Test("a hundred observers of one store all arrive at its state", arguments: ObservedStore.Kind.allCases)
    func many(_ kind: ObservedStore.Kind) async throws {
        try await ObservedStore.with(kind) { store in
            try await withThrowingTaskGroup { group in
                for _ in 0..<100 {
                    group.addTask {
                        for try await count in store.observeCount(Self.all) where count == 20 { break }
                    }
                }
                for number in 0..<20 { try await write(0, to: .string("\(number)"), store) }
                try await group.waitForAll()
            }
            #expect(store.subscriptions == 0)
        }
    }
}

/// An iterator that a second task can wait on.
private actor Results<Element: Sendable> {
    private var iterator: StoreObservation<Element>.Iterator

    init(_ observation: StoreObservation<Element>) { iterator = observation.makeAsyncIterator() }

    func next() async throws -> Element? {
        var iterator = iterator
        defer { self.iterator = iterator }
        return try await iterator.next(isolation: self)
    }
}
