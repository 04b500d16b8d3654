import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Synchronization
import Testing

@Suite("Conflicts that are settled while a push runs")
struct ConflictPolicyTests {
    /// The laptop has changed an item that the phone has changed, or deleted, meanwhile.
    private func conflict(
        _ dialect: DatasyncDialect = .datasync,
        deleted: Bool = false,
        _ body: (SyncWorld) async throws -> Void
    ) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            if deleted {
                try await world.phone.table.delete("a")
            } else {
                try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            }
            _ = try await world.phone.context.push()
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            try await body(world)
        }
    }

    @Test("the client wins, also over a deletion", arguments: DatasyncDialect.allCases, [true, false])
    func clientWins(_ dialect: DatasyncDialect, _ deleted: Bool) async throws {
        try await conflict(dialect, deleted: deleted) { world in
            world.laptop.context.conflictPolicy = .clientWins
            let report = try await world.laptop.context.push()
            #expect(report.notTaken.isEmpty && report.pushed == 1)
            #expect(world.onServer() == ["a": "mine"])
            let entry = try #require(try await world.laptop.context.journal().first)
            #expect(entry.decision == .keptMine && entry.itemID == "a" && entry.table == "TodoItem")
            #expect(entry.givenUp?["text"] == (deleted ? "milk" : "theirs"))
        }
    }

    @Test("the server wins, also with a deletion", arguments: DatasyncDialect.allCases, [true, false])
    func serverWins(_ dialect: DatasyncDialect, _ deleted: Bool) async throws {
        try await conflict(dialect, deleted: deleted) { world in
            let laptop = world.laptop
            laptop.context.conflictPolicy = .serverWins
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(try await laptop.text("a") == (deleted ? nil : "theirs"))
            #expect(try await laptop.context.operations().isEmpty)
            let entry = try #require(try await laptop.context.journal().first)
            #expect(entry.decision == .tookServer && entry.givenUp?["text"] == "mine")
        }
    }

    @Test("what was decided is told once, without what it was about")
    func told() async throws {
        try await conflict { world in
            let context = world.laptop.context
            context.conflictPolicy = .serverWins
            var events = context.events.makeAsyncIterator()
            let report = try await context.push()
            #expect(report.notTaken.isEmpty)
            var lines: [String] = []
            while lines.last?.hasPrefix("push ended") != true, let event = await events.next() {
                lines.append(event.logLine)
            }
            let decisions = lines.filter { $0.contains("decided") }
            #expect(decisions == ["conflict in 'TodoItem' decided by policy: tookServer"])
            #expect(!lines.joined().contains("mine") && !lines.joined().contains("theirs"))
        }
    }

    @Test("what is sent again in the same push is told as sent again")
    func toldAsSentAgain() async throws {
        try await conflict { world async throws in
            let context = world.laptop.context
            context.conflictPolicy = .clientWins
            var events = context.events.makeAsyncIterator()
            #expect(try await context.push().pushed == 1)
            var sent: [String] = []
            while let event = await events.next() {
                if case .operationSent(let operation) = event { sent.append(operation.itemID) }
                if case .pushEnded = event { break }
            }
            #expect(sent == ["a", "a"])
        }
    }

    @Test("a merge is given base, local and server, and is sent in the same push")
    func merge() async throws {
        try await conflict { world async throws in
            let laptop = world.laptop
            laptop.context.conflictPolicy = .serverWins
            laptop.table.conflictPolicy = .merge { conflict in
                #expect(conflict.baseItem?["text"] == "milk")
                #expect(conflict.item?["text"] == "mine")
                var merged = try #require(conflict.serverItem)
                merged["text"] = "both"
                return .keepMerged(merged)
            }
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["a": "both"])
            #expect(try await laptop.context.journal().map(\.decision) == [.keptMerged])
        }
    }

    @Test(
        "what a look-up has found is settled with both rows, and what is given up is on record",
        arguments: [true, false]
    )
    func foundByLookUp(_ merges: Bool) async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            world.emulator.inject(.respond(EmulatorResponse(500), times: 1) { $0.method == "PUT" })
            _ = try await laptop.context.push()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            laptop.context.conflictPolicy = .serverWins
            if merges {
                laptop.context.conflictPolicy = .merge { conflict in
                    #expect(conflict.item?["text"] == "mine")
                    var merged = try #require(conflict.serverItem)
                    merged["text"] = "both"
                    return .keepMerged(merged)
                }
            }
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(world.onServer() == ["a": merges ? "both" : "theirs"])
            let given = try await laptop.context.journal().first?.givenUp?["text"]
            #expect(given == (merges ? "theirs" : "mine"))
        }
    }

    @Test("a merge in items of a type")
    func typedMerge() async throws {
        struct Item: Codable, Identifiable, Sendable {
            var id = ""
            var text: String?
        }
        try await conflict { world async throws in
            let items: SyncTable<Item> = try world.laptop.context.table("TodoItem")
            items.conflictPolicy = .merge { conflict in
                var merged = try #require(conflict.item)
                merged.text = "\(conflict.baseItem?.text ?? ""), \(conflict.serverItem?.text ?? "")"
                return .keepMerged(merged)
            }
            // What was set in items is the same in rows, and back.
            world.laptop.table.conflictPolicy = world.laptop.table.conflictPolicy
            let again = items.conflictPolicy
            items.conflictPolicy = again
            #expect(try await world.laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["a": "milk, theirs"])
        }
    }

    @Test("a merge that gives nothing stores the conflict; one that fails does so, too, and ends the push")
    func undecided() async throws {
        struct Undecided: Error {}
        try await conflict { world async throws in
            let laptop = world.laptop
            laptop.table.conflictPolicy = .merge { _ in throw Undecided() }
            await #expect(throws: Undecided.self) { _ = try await laptop.context.push() }
            #expect(try await laptop.onlyError().isConflict)
            laptop.table.conflictPolicy = .merge { _ in nil }
            #expect(try await laptop.context.push().conflicts.count == 1)
            #expect(try await laptop.context.journal().isEmpty)
            #expect(world.onServer() == ["a": "theirs"])
        }
    }

    @Test(
        "a decision that the table cannot hold ends the push, and does not keep later ones from what else waits",
        arguments: [["due": "tomorrow"], ["colour": "red"], ["due": .double(.infinity)]] as [[String: FieldValue]],
        [true, false]
    )
    func unfitDecision(_ fields: [String: FieldValue], merges: Bool) async throws {
        try await conflict { world async throws in
            let laptop = world.laptop
            let asked = Mutex(0)
            let decided = Record(id: "a", fields)
            laptop.table.conflictPolicy = .merge { _ in
                asked.withLock { $0 += 1 }
                return merges ? .keepMerged(decided) : .keepLocal(decided)
            }
            await #expect(throws: (any Error).self) { _ = try await laptop.context.push() }
            #expect(try await laptop.onlyError().isConflict)
            #expect(try await laptop.text("a") == "mine")
            try await laptop.table.insert(["text": "other"], id: "b")
            let report = try await laptop.context.push()
            #expect(report.conflicts.count == 1 && report.pushed == 1)
            #expect(asked.withLock { $0 } == 1)
            #expect(world.onServer() == ["a": "theirs", "b": "other"])
            #expect(try await laptop.store.verifyQueue().isEmpty)
        }
    }

    @Test("of a change that becomes a deletion the journal keeps what both sides had")
    func deletedInstead() async throws {
        try await conflict { world async throws in
            let laptop = world.laptop
            laptop.context.conflictPolicy = .merge { _ in .deleteInstead }
            #expect(try await laptop.context.push().notTaken.isEmpty)
            let entry = try #require(try await laptop.context.journal().first)
            #expect(entry.decision == .deletedInstead && entry.givenUp?["text"] == "theirs")
            #expect(entry.givenUpChange?["text"] == "mine")
        }
    }

    @Test("of a change that is dropped while the local row stays the journal keeps the change")
    func keptLocal() async throws {
        try await conflict { world async throws in
            let laptop = world.laptop
            laptop.context.conflictPolicy = .merge { _ in .keepLocal() }
            #expect(try await laptop.context.push().notTaken.isEmpty)
            let entry = try #require(try await laptop.context.journal().first)
            #expect(entry.decision == .keptLocal && entry.givenUp?["text"] == "mine")
        }
    }

    @Test("the journal has both sides of a merge, and its numbers go on when it is cleared")
    func mergeInJournal() async throws {
        try await conflict { world async throws in
            let (phone, laptop) = (world.phone, world.laptop)
            laptop.context.conflictPolicy = .merge { .keepMerged($0.serverItem ?? Record(id: "a")) }
            #expect(try await laptop.context.push().notTaken.isEmpty)
            let first = try #require(try await laptop.context.journal().first)
            #expect(first.decision == .keptMerged && first.givenUp?["text"] == "theirs")
            #expect(first.givenUpChange?["text"] == "mine")
            try await laptop.context.clearJournal()
            #expect(try await laptop.context.journal().isEmpty)
            try await phone.pull()
            try await phone.table.update(Record(id: "a", ["text": "theirs again"]))
            _ = try await phone.context.push()
            try await laptop.table.update(Record(id: "a", ["text": "mine again"]))
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(try await laptop.context.journal().map(\.id) == [first.id + 1])
        }
    }

    @Test("somebody who is always faster does not keep a push for ever")
    func endless() async throws {
        try await conflict { world async throws in
            let (phone, laptop) = (world.phone, world.laptop)
            let asked = Mutex(0)
            laptop.table.conflictPolicy = .merge { _ in
                let count = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                try await phone.table.update(Record(id: "a", ["text": .string("theirs \(count)")]))
                _ = try await phone.context.push()
                return .keepMine
            }
            #expect(try await laptop.context.push().conflicts.count == 1)
            #expect(asked.withLock { $0 } <= 6)
        }
    }

    @Test("the journal keeps the last decisions, the newest first, until it is cleared")
    func journal() async throws {
        try await SyncWorld.with(.datasync) { world async throws in
            let laptop = world.laptop
            laptop.context.conflictPolicy = .serverWins
            for id in ["a", "b", "c"] {
                try await world.shareItem(id)
                try await world.phone.table.update(Record(id: .string(id), ["text": "theirs"]))
                _ = try await world.phone.context.push()
                try await laptop.table.update(Record(id: .string(id), ["text": "mine"]))
                _ = try await laptop.context.push()
            }
            #expect(try await laptop.context.journal().map(\.itemID) == ["c", "b", "a"])
            #expect(try await laptop.store.verifyQueue().isEmpty)
            try await laptop.context.clearJournal()
            #expect(try await laptop.context.journal().isEmpty)
        }
    }

    @Test("the journal keeps a thousand decisions: the oldest one leaves for the next")
    func mostEntries() async throws {
        try await conflict { world in
            let laptop = world.laptop
            let entries = (1...1_000)
                .map { number in
                    let digits = "\(number)"
                    let key = String(repeating: "0", count: 19 - digits.count) + digits
                    return Record(
                        id: .string("entry \(number)"),
                        [
                            "table": "", "keyType": 1_005, "key": .string(key),
                            "value": #"{"table":"TodoItem","date":1,"itemId":"x","decision":"keptMine"}"#,
                        ]
                    )
                }
            try await laptop.store.upsert(entries, table: SystemTables.configuration.name)
            #expect(try await laptop.context.journal().count == 1_000)
            laptop.context.conflictPolicy = .serverWins
            _ = try await laptop.context.push()
            let numbers = try await laptop.context.journal().map(\.id)
            #expect(numbers.count == 1_000 && numbers.first == 1_001 && numbers.last == 2)
        }
    }

    @Test("the journal goes on with the entries that an earlier version has kept under their tables, and clears them")
    func journalOfEarlierVersion() async throws {
        try await SyncWorld.with(.datasync) { world async throws in
            let laptop = world.laptop
            laptop.context.conflictPolicy = .serverWins
            let earlier = (4...5)
                .map { number in
                    Record(
                        id: .string("entry \(number)"),
                        [
                            "table": "TodoItem", "keyType": 1_005, "key": .string("000000000000000000\(number)"),
                            "value":
                                #"{"date":1,"itemId":"x","decision":"keptMine","givenUp":{"id":"x","text":"old"}}"#,
                        ]
                    )
                }
            try await laptop.store.upsert(earlier, table: SystemTables.configuration.name)
            #expect(try await laptop.context.journal().map(\.id) == [5, 4])
            for id in ["a", "b"] {
                try await world.shareItem(id)
                try await world.phone.table.update(Record(id: .string(id), ["text": "theirs"]))
                _ = try await world.phone.context.push()
                try await laptop.table.update(Record(id: .string(id), ["text": "mine"]))
                _ = try await laptop.context.push()
            }
            let entries = try await laptop.context.journal()
            #expect(entries.map(\.id) == [7, 6, 5, 4])
            #expect(entries.map(\.itemID) == ["b", "a", "x", "x"])
            #expect(entries.allSatisfy { $0.table == "TodoItem" })
            #expect(entries.map { $0.givenUp?["text"] } == ["mine", "mine", "old", "old"])
            #expect(try await laptop.store.verifyQueue().isEmpty)
            try await laptop.context.clearJournal()
            #expect(try await laptop.context.journal().isEmpty)
        }
    }
}
