import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

@Suite("Rows whose ids were given here in another case than the server's, which ignores it")
struct OtherSpellingTests {
    /// What was decided about the change, one decision after the other.
    private static let decisions: [[ConflictResolution<Record>]] = [
        [.keepLocal(Record(id: "K1", ["text": "kept"]))],
        [.keepMerged(Record(id: "K1", ["text": "kept"])), .keepLocal(nil)],
    ]

    @Test("one that is kept as it is here is still the server's row, whose later changes come", arguments: decisions)
    func kept(_ decisions: [ConflictResolution<Record>]) async throws {
        try await SyncWorld.with(.azureMobileApps, ignoresCase: true) { world in
            try await world.phone.table.insert(["text": "theirs"], id: "k1")
            try await world.phone.pull()
            let laptop = world.laptop
            try await laptop.table.insert(["text": "mine"], id: "K1")
            #expect(try await laptop.context.push().conflicts.count == 1)
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            for decision in decisions {
                world.emulator.inject(.respond(EmulatorResponse(400)) { $0.method == "PATCH" })
                #expect(try await laptop.context.push().failures.count == 1)
                try await laptop.context.resolve(try await laptop.onlyError(), with: decision)
            }
            #expect(try await laptop.context.operations().isEmpty)
            #expect(try await laptop.texts() == ["k1": "kept"], "the server's spelling stays")
            try await world.phone.table.update(Record(id: "k1", ["text": "news"]))
            try await world.phone.pull()
            #expect(try await laptop.pull().setAside.isEmpty)
            #expect(try await laptop.texts() == ["k1": "news"])
            #expect(try await laptop.context.setAsideRows().isEmpty)
        }
    }

    @Test("one that names another in other letters than its id is found after a lost answer", arguments: [false, true])
    func namedInOtherLetters(pullsBetween: Bool) async throws {
        try await AssignedIDWorld.with(.azureMobileApps) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            _ = try await phone.context.push()
            try await phone.tasks.insert(["text": "milk", "list": "L", "complete": false], id: "t")
            phone.server.intercept(.answerLost)
            #expect(try await syncErrorCode { _ = try await phone.context.push() } == .pushAbortedNetwork)
            if pullsBetween { try await phone.context.pull(phone.tasks, options: .init(order: .pullOnly)) }
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(try await phone.context.operations().isEmpty)
            #expect(world.toldByServer() == ["shopping: milk"])
            try await phone.pullAll()
            #expect(try await phone.texts("Tasks") == ["milk"])
            try await phone.tasks.update(Record(id: "t", ["text": "oat milk"]))
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.toldByServer() == ["shopping: oat milk"])
        }
    }

    /// How a row of others comes to name the list.
    enum Naming: CaseIterable { case afterwards, before, withinOnePull }

    @Test("a row of others that names one in other letters than the server's names that", arguments: Naming.allCases)
    func namedByOthers(_ naming: Naming) async throws {
        try await AssignedIDWorld.with(.azureMobileApps) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            let list = "A1B2C3D4-0000-4000-8000-000000000001"
            let rows: [(table: String, row: [String: JSONValue])] = [
                ("Lists", ["id": .string(list), "text": "shopping"]),
                ("Tasks", ["id": "t1", "text": "milk", "list": .string(list.lowercased())]),
                ("Tasks", ["id": "t2", "text": "bread", "list": .string(list)]),
            ]
            for (table, row) in naming == .before ? [rows[1], rows[0], rows[2]] : rows {
                try world.emulator.seed([row], in: table)
                if naming != .withinOnePull { try await phone.pullAll() }
            }
            try await phone.pullAll()
            try await laptop.pullAll()
            for device in [phone, laptop] {
                #expect(try await device.told() == ["shopping: bread", "shopping: milk"])
            }
            let here = try #require(try await phone.lists.id(ofServerID: list))
            #expect(try await phone.lists.serverID(of: here) == list)
            let task = try #require(try await phone.tasks.id(ofServerID: "t1"))
            try await phone.tasks.update(Record(id: .string(task), ["text": "oat milk"]))
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(try await phone.told() == ["shopping: bread", "shopping: oat milk"])
        }
    }
}
