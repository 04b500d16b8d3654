import DatasyncEmulator
import DatasyncHTTP
import ReferenceStore
import RemoteContract
import SeededNumbers
import StoreConformance
import SyncContract
import Testing

@testable import OfflineSync

@Suite("An id that the server has chosen and nobody has heard of")
struct LostIDTests {
    @Test("is found by the content before the insert is sent again", arguments: DatasyncDialect.allCases)
    func lostAnswer(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            try await phone.tasks.insert(["text": "milk", "list": "l", "complete": false], id: "t")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            let after = try phone.restarted()
            after.server.intercept(.whileUnderWay {}, .answerLost)
            _ = try await syncErrorCode { _ = try await after.context.push() }
            #expect(try await after.context.push().notTaken.isEmpty)
            #expect(world.toldByServer() == ["shopping: milk"])
            #expect(world.textsOnServer("Lists") == ["shopping"])
            try await after.pullAll()
            #expect(try await after.told() == ["shopping: milk"])
            #expect(try await after.lists.read("l") != nil)
        }
    }

    @Test("is not made a second time where more rows look like it than can be looked at")
    func manyAlike() async throws {
        try await AssignedIDWorld.with(pageSize: 1) { world in
            // So long a text is no condition: all open tasks have to be looked at, and those of others come first.
            func text(_ number: Int) -> String { String(repeating: "-", count: 300) + "\(number)" }
            let others = (1...230)
                .map { number -> [String: JSONValue] in
                    ["id": .string("00000000-\(1_000 + number)"), "text": .string(text(number)), "complete": false]
                }
            try world.emulator.seed(others, in: "Tasks")
            let phone = world.phone
            try await phone.tasks.insert(["text": .string(text(0)), "complete": false], id: "t")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            for _ in 1...2 {
                #expect(try await phone.context.push().failures.map(\.itemID) == ["t"])
                #expect(world.onServer("Tasks").count { $0["text"]?.string == text(0) } == 1)
            }
        }
    }

    @Test("is sent again when the request never arrived", arguments: DatasyncDialect.allCases)
    func lostRequest(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            try await world.phone.lists.insert(["text": "shopping"], id: "l")
            world.phone.server.intercept(.requestLost)
            _ = try await syncErrorCode { _ = try await world.phone.context.push() }
            #expect(try await world.phone.context.push().pushed == 1)
            #expect(world.textsOnServer("Lists") == ["shopping"])
        }
    }

    @Test("is found also when the row was edited since, and the edit follows", arguments: DatasyncDialect.allCases)
    func editedSince(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            try await phone.lists.update(Record(id: "l", ["text": "groceries"]))
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Lists") == ["groceries"])
        }
    }

    @Test("is found also when the row was deleted since, and is deleted there", arguments: DatasyncDialect.allCases)
    func deletedSince(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            try await phone.lists.delete("l")
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.onServer("Lists").isEmpty)
            #expect(try await phone.context.operations().isEmpty)
        }
    }

    @Test("is where a change goes back to that referred to it before it was found", arguments: [true, false])
    func revertedReference(_ deletes: Bool) async throws {
        try await AssignedIDWorld.with { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await phone.lists.insert(["text": "shopping"], id: "x")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            try await laptop.pullAll()
            let list = try #require(try await laptop.store.read(Query("Lists")).records.first?.id.stringValue)
            try await laptop.tasks.insert(["text": "milk", "list": .string(list), "complete": false], id: "c")
            _ = try await laptop.context.push()
            try await phone.context.pull(phone.tasks, options: .init(order: .pullOnly))
            let task = try #require(try await phone.store.read(Query("Tasks")).records.first?.id.stringValue)
            if deletes {
                try await phone.tasks.delete(task)
            } else {
                try await phone.tasks.update(Record(id: .string(task), ["text": "cream"]))
            }
            try await phone.context.pull(phone.lists, options: .init(order: .pullOnly))
            if deletes { try await phone.tasks.undoDelete(task) } else { try await phone.tasks.revert(task) }
            #expect(try await phone.tasks.read(task)?["list"] == "x")
        }
    }

    /// The insert is on its way for long, is refused when it is sent again, and is dropped; then it arrives.
    private func drop(_ world: AssignedIDWorld) async throws {
        let phone = world.phone
        try await phone.lists.insert(["text": "shopping"], id: "l")
        phone.server.intercept(.late)
        _ = try await syncErrorCode { _ = try await phone.context.push() }
        world.emulator.inject(.respond(EmulatorResponse(422), times: 1) { $0.method == "POST" })
        let failed = try #require(try await phone.context.push().failures.first)
        try await phone.context.resolve(failed, with: .keepLocal())
        #expect(try await phone.context.operations().isEmpty)
        await phone.server.deliver()
        #expect(world.textsOnServer("Lists") == ["shopping"])
    }

    @Test("is found by a pull also when the insert was dropped since", arguments: DatasyncDialect.allCases)
    func dropped(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            try await drop(world)
            try await world.phone.pullAll()
            #expect(try await world.phone.texts("Lists") == ["shopping"])
            #expect(try await world.phone.lists.read("l")?["text"] == "shopping")
            try await world.phone.lists.update(Record(id: "l", ["text": "groceries"]))
            #expect(try await world.phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Lists") == ["groceries"])
        }
    }

    @Test(
        "is found by a pull also when the dropped item was deleted and its deletion taken back, or changed and given up",
        arguments: [true, false]
    )
    func droppedAndTakenBack(deletes: Bool) async throws {
        try await AssignedIDWorld.with { world in
            try await drop(world)
            let phone = world.phone
            if deletes {
                try await phone.lists.delete("l")
                try await phone.lists.undoDelete("l")
            } else {
                try await phone.lists.update(Record(id: "l", ["text": "groceries"]))
                try await phone.lists.revert("l")
            }
            try await phone.pullAll()
            #expect(try await phone.texts("Lists") == ["shopping"])
            #expect(try await phone.lists.read("l")?["text"] == "shopping")
        }
    }

    @Test("is found by a pull also when a row comes first that refers to the dropped item as it is called here")
    func droppedAndReferredTo() async throws {
        try await AssignedIDWorld.with { world in
            try await drop(world)
            let phone = world.phone
            try await phone.tasks.insert(["text": "milk", "list": "l", "complete": false], id: "t")
            #expect(try await phone.context.push().pushed == 1)
            try await phone.context.pull(phone.tasks)
            try await phone.context.pull(phone.lists)
            #expect(try await phone.told() == ["shopping: milk"])
            // On the server it names the list as it did when it left, until it is written again.
            #expect(world.toldByServer() == ["?: milk"])
            try await phone.tasks.update(Record(id: "t", ["text": "cream"]))
            #expect(try await phone.context.push().pushed == 1)
            #expect(world.toldByServer() == ["shopping: cream"])
            #expect(try await phone.texts("Lists") == ["shopping"])
            #expect(try await phone.tasks.read("t")?["list"] == "l")
        }
    }

    @Test("is found by a deletion also when the insert was dropped", arguments: DatasyncDialect.allCases)
    func droppedAndDeleted(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            try await drop(world)
            try await world.phone.lists.delete("l")
            #expect(try await world.phone.context.push().notTaken.isEmpty)
            #expect(world.onServer("Lists").isEmpty)
            try await world.phone.pullAll()
            #expect(try await world.phone.texts("Lists").isEmpty)
        }
    }

    @Test("is found by an update also when the insert was dropped", arguments: DatasyncDialect.allCases)
    func droppedAndUpdated(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await drop(world)
            try await phone.lists.update(Record(id: "l", ["text": "groceries"]))
            let notTaken = try await phone.context.push().notTaken
            #expect(notTaken.isEmpty, "\(notTaken.map { $0.message })")
            #expect(world.textsOnServer("Lists") == ["groceries"])
            #expect(try await phone.context.operations().isEmpty)
            try await phone.pullAll()
            #expect(try await phone.texts("Lists") == ["groceries"])
            #expect(try await phone.lists.read("l")?["text"] == "groceries")
        }
    }

    @Test("is not that of a row with the same content that comes when it was found, and a change waits")
    func foundBefore() async throws {
        try await AssignedIDWorld.with { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await drop(world)
            try await phone.lists.update(Record(id: "l", ["text": "groceries"]))
            try await phone.context.pull(phone.lists, options: .init(order: .pullOnly))
            try await laptop.lists.insert(["text": "shopping"])
            _ = try await laptop.context.push()
            try await phone.context.pull(phone.lists, options: .init(order: .pullOnly))
            #expect(try await phone.texts("Lists") == ["groceries", "shopping"])
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Lists") == ["groceries", "shopping"])
        }
    }

    @Test("is found by an update also when the item was kept once more, because it had not arrived")
    func droppedTwice() async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            phone.server.intercept(.late)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            world.emulator.inject(.respond(EmulatorResponse(422), times: 1) { $0.method == "POST" })
            let failed = try #require(try await phone.context.push().failures.first)
            try await phone.context.resolve(failed, with: .keepLocal())
            try await phone.lists.update(Record(id: "l", ["text": "food"]))
            let conflict = try #require(try await phone.context.push().conflicts.first)
            try await phone.context.resolve(conflict, with: .keepLocal())
            await phone.server.deliver()
            try await phone.lists.update(Record(id: "l", ["text": "groceries"]))
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Lists") == ["groceries"])
        }
    }

    @Test("deletes nothing when the request of a deleted row never arrived", arguments: DatasyncDialect.allCases)
    func deletedAndLost(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            phone.server.intercept(.requestLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            try await phone.lists.delete("l")
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.emulator.rows(in: "Lists").isEmpty)
            #expect(try await phone.context.operations().isEmpty)
        }
    }

    @Test("is taken from a pull that comes before the push", arguments: DatasyncDialect.allCases)
    func pullFirst(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            // Another device has seen the list, and has put a task into it.
            try await world.laptop.pullAll()
            let list = try #require(try await world.laptop.store.read(Query("Lists")).records.first?.id.stringValue)
            try await world.laptop.tasks.insert(["text": "milk", "list": .string(list)])
            _ = try await world.laptop.context.push()
            // The task comes first, and has the list's id made up.
            try await phone.context.pull(phone.tasks, options: .init(order: .pullOnly))
            try await phone.context.pull(phone.lists, options: .init(order: .pullOnly))
            #expect(try await phone.told() == ["shopping: milk"])
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Lists") == ["shopping"])
            try await phone.pullAll()
            #expect(try await phone.texts("Lists") == ["shopping"])
            #expect(try await phone.lists.read("l") != nil)
        }
    }

    @Test("is what a change refers to that was made before, and is taken back", arguments: [true, false])
    func undone(_ deletes: Bool) async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            try await world.laptop.pullAll()
            let list = try #require(try await world.laptop.store.read(Query("Lists")).records.first?.id.stringValue)
            try await world.laptop.tasks.insert(["text": "milk", "list": .string(list)])
            _ = try await world.laptop.context.push()
            // The task comes first, has the list's id made up, and is changed.
            try await phone.context.pull(phone.tasks, options: .init(order: .pullOnly))
            let task = try #require(try await phone.store.read(Query("Tasks")).records.first?.id.stringValue)
            if deletes {
                try await phone.tasks.delete(task)
            } else {
                try await phone.tasks.update(Record(id: .string(task), ["text": "cream"]))
            }
            try await phone.context.pull(phone.lists, options: .init(order: .pullOnly))
            if deletes { try await phone.tasks.undoDelete(task) } else { try await phone.tasks.revert(task) }
            #expect(try await phone.tasks.read(task)?["list"] == "l")
            #expect(try await phone.told() == ["shopping: milk"])
        }
    }

    @Test("is not mixed up with rows of the same content that have a place here")
    func sameContent() async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            for id in ["a", "b", "c"] { try await phone.lists.insert(["text": "milk"], id: id) }
            phone.server.intercept(.whileUnderWay {}, .answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Lists") == ["milk", "milk", "milk"])
            try await phone.pullAll()
            #expect(Set(try await phone.store.read(Query("Lists")).records.map(\.id)) == ["a", "b", "c"])
        }
    }

    @Test("is not that of a row of others with the same content, which has a place here", arguments: [true, false])
    func contentOfOthers(_ pullsFirst: Bool) async throws {
        try await AssignedIDWorld.with { world in
            try await world.laptop.lists.insert(["text": "milk"])
            _ = try await world.laptop.context.push()
            let phone = world.phone
            try await phone.pullAll()
            try await phone.lists.insert(["text": "milk"], id: "mine")
            phone.server.intercept(.requestLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            if pullsFirst {
                try await phone.context.pull(phone.lists, options: .init(order: .pullOnly, reconciles: true))
            }
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Lists") == ["milk", "milk"])
            #expect(try await phone.texts("Lists") == ["milk", "milk"])
        }
    }

    @Test(
        "is not lost whichever call of the store fails and kills the process",
        arguments: StoreFault.Moment.allCases,
        1...24
    )
    func kills(_ moment: StoreFault.Moment, _ number: Int) async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            try await phone.tasks.insert(["text": "child", "list": "l", "parent": "p"], id: "c")
            try await phone.tasks.insert(["text": "parent", "list": "l"], id: "p")
            try await phone.lists.insert(["text": "shopping"], id: "l")
            try await world.laptop.lists.insert(["text": "other"])
            _ = try await world.laptop.context.push()
            let failing = try phone.failing { call in call.number == number ? .fails(moment) : nil }
            do {
                _ = try await failing.context.push()
                try await failing.pullAll()
            } catch let error as StoreError {
                #expect(error.code == .inputOutput)
            } catch let error as SyncError {
                #expect((error.cause as? StoreError)?.code == .inputOutput)
            }
            let after = try phone.restarted()
            let refused = try await after.context.push().notTaken
            #expect(refused.isEmpty, "\(refused.map { $0.message })")
            try await after.pullAll()
            #expect(world.toldByServer() == ["shopping: child", "shopping: parent"])
            #expect(world.textsOnServer("Lists") == ["other", "shopping"])
            #expect(try await after.told() == ["shopping: child", "shopping: parent"])
            #expect(try await after.texts("Lists") == ["other", "shopping"])
            #expect(try await after.tasks.read("c")?["parent"] == "p")
        }
    }

    @Test("is found also where the server takes no conditions", arguments: DatasyncDialect.allCases)
    func withoutConditions(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            world.emulator.inject(
                .respond(EmulatorResponse(400), times: 99) { $0.method == "GET" && $0.query.contains("filter") }
            )
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Lists") == ["shopping"])
            #expect(try await phone.context.operations().isEmpty)
        }
    }

    @Test("is not that of a row of others whose deletion waits here")
    func deletionOfOthersWaits() async throws {
        try await AssignedIDWorld.with { world in
            try await world.laptop.lists.insert(["text": "milk"])
            _ = try await world.laptop.context.push()
            let theirs = try #require(world.emulator.rows(in: "Lists").first?["id"]?.string)
            let phone = world.phone
            try await phone.pullAll()
            let here = try #require(try await phone.lists.id(ofServerID: theirs))
            try await phone.lists.delete(here)
            world.emulator.inject(.respond(EmulatorResponse(422), times: 1) { $0.method == "DELETE" })
            #expect(try await phone.context.push().failures.count == 1)
            try await phone.lists.insert(["text": "milk"], id: "mine")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            try await phone.context.pull(phone.lists, options: .init(order: .pullOnly, reconciles: true))
            let own = world.emulator.rows(in: "Lists").compactMap { $0["id"]?.string }.first { $0 != theirs }
            #expect(try await phone.lists.serverID(of: "mine") == own)
            #expect(try await phone.lists.serverID(of: here) == theirs)
        }
    }

    @Test("is not looked for while an insert is under way whose row could be taken for it", arguments: [true, false])
    func besideAnother(_ deletes: Bool) async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "milk"], id: "lost")
            phone.server.intercept(.requestLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            if deletes { try await phone.lists.delete("lost") }
            try await phone.lists.insert(["text": "milk"], id: "new")
            try await phone.tasks.insert(["text": "milk"], id: "task")
            let schema = phone.store.schema
            let references = try await phone.store.read { reader in
                try OperationQueue.all(&reader, schema)
                    .map { operation in
                        let table = try #require(schema.table(operation.table))
                        return try OperationReferences(operation, table, schema, &reader)
                    }
            }
            try #require(references.map(\.item.key) == ["lost", "new", "task"])
            #expect(references[0].isTied(to: references[1]) && references[1].isTied(to: references[0]))
            #expect(!references[2].isTied(to: references[0]) && !references[1].isTied(to: references[2]))
            let side = SyncContext(store: phone.store, remote: phone.server, options: .init(parallelOperations: 4))
            #expect(try await side.push().notTaken.isEmpty)
            try await phone.pullAll()
            let texts = deletes ? ["milk"] : ["milk", "milk"]
            #expect(world.textsOnServer("Lists") == texts)
            #expect(try await phone.texts("Lists") == texts)
        }
    }

    @Test(
        "is not that of a row of others with the same content that was purged here",
        arguments: [true, false],
        [true, false]
    )
    func purgedContent(_ deletes: Bool, _ isNamedBefore: Bool) async throws {
        try await AssignedIDWorld.with { world in
            try await world.laptop.lists.insert(["text": "milk"], id: "l")
            try await world.laptop.tasks.insert(["text": "task", "list": "l"])
            _ = try await world.laptop.context.push()
            let phone = world.phone
            if isNamedBefore { try await phone.context.pull(phone.tasks) }
            try await phone.pullAll()
            #expect(try await phone.context.purge(phone.lists.query.filtered(by: Column("text") == "milk")) == 1)
            try await phone.lists.insert(["text": "milk"], id: "mine")
            phone.server.intercept(.requestLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            if deletes { try await phone.lists.delete("mine") }
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Lists") == (deletes ? ["milk"] : ["milk", "milk"]))
        }
    }

    @Test("is none for a row that was kept where the server has none")
    func keptWithoutRow() async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "milk"], id: "l")
            world.emulator.inject(.respond(EmulatorResponse(422), times: 1) { $0.method == "POST" })
            #expect(try await phone.context.push().failures.count == 1)
            let error = try #require(try await phone.context.operationErrors().first)
            try await phone.context.resolve(error, with: .keepLocal())
            #expect(try await phone.lists.read("l") != nil)
            #expect(try await phone.lists.serverID(of: "l") == nil)
            #expect(try await phone.lists.id(ofServerID: "l") == nil)
            try await phone.lists.update(Record(id: "l", ["text": "cream"]))
            #expect(try await phone.context.push().pushed == 1)
            #expect(try await phone.lists.serverID(of: "l") != nil)
        }
    }
}
