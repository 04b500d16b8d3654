import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import StoreConformance
import SyncContract
import Testing

@Suite("Rows that refer to a row which the server has never given an id")
struct MissingReferenceTests {
    @Test("are made once, although an answer was lost", arguments: DatasyncDialect.allCases)
    func once(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            try await phone.tasks.insert(["text": "milk", "list": "l"], id: "t")
            try await phone.tasks.insert(["text": "bread", "list": "l"], id: "u")
            try await phone.lists.delete("l")
            phone.server.intercept(.whileUnderWay {}, .answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Tasks") == ["bread", "milk"])
            try await phone.pullAll()
            #expect(try await phone.texts("Tasks") == ["bread", "milk"])
            #expect(try await phone.context.operations().isEmpty)
        }
    }

    @Test("are made once also when another one of them has come back", arguments: DatasyncDialect.allCases)
    func onceBesideAnother(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            try await phone.tasks.insert(["text": "milk", "list": "l"], id: "t")
            try await phone.lists.delete("l")
            #expect(try await phone.context.push().notTaken.isEmpty)
            let laptop = world.laptop
            try await laptop.pullAll()
            let named = try #require(world.onServer("Tasks").first?["list"]?.string)
            #expect(named == "l")
            try await phone.pullAll()
            try await phone.tasks.insert(["text": "bread", "list": "l"], id: "u")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            try await phone.pullAll()
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Tasks") == ["bread", "milk"])
            #expect(try await phone.texts("Tasks") == ["bread", "milk"])
            #expect(try await phone.context.operations().isEmpty)
        }
    }

    @Test("are known when they come back, and name another row by then", arguments: DatasyncDialect.allCases)
    func changedSince(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            try await phone.lists.insert(["text": "party"], id: "m")
            try await phone.tasks.insert(["text": "milk"], id: "t")
            try await phone.pullAll()
            try await phone.lists.insert(["text": "given up"], id: "n")
            try await phone.tasks.update(Record(id: "t", ["list": "n"]))
            try await phone.lists.delete("n")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            try await phone.tasks.update(Record(id: "t", ["list": "m"]))
            #expect(try await phone.context.push().notTaken.isEmpty)
            let party = try #require(world.onServer("Lists").first { $0["text"]?.string == "party" })
            #expect(world.onServer("Tasks").map { $0["list"]?.string } == [party["id"]?.string])
        }
    }

    @Test(
        "do not wait for ever for the deletion of that row, which waits for one of them",
        arguments: DatasyncDialect.allCases
    )
    func deletion(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            phone.server.intercept(.requestLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            world.emulator.inject(.respond(EmulatorResponse(422), times: 1) { $0.method == "POST" })
            let failed = try #require(try await phone.context.push().failures.first)
            try await phone.context.resolve(failed, with: .keepLocal())
            try await phone.tasks.insert(["text": "milk", "list": "l"], id: "t")
            #expect(try await phone.context.push().pushed == 1)
            try await phone.lists.update(Record(id: "l", ["text": "groceries"]))
            let conflict = try #require(try await phone.context.push().conflicts.first)
            // The task on the server names the list; the other one goes first.
            try await phone.context.write { [tasks = phone.tasks] transaction in
                try transaction.insert(["text": "bread", "list": "l"], id: "u", into: tasks)
                try transaction.update(Record(id: "t", ["list": .null]), in: tasks)
            }
            try await phone.context.resolve(conflict, with: .deleteInstead)
            for _ in 1...2 { #expect(try await phone.context.push().notTaken.isEmpty) }
            #expect(try await phone.context.operations().isEmpty)
            #expect(world.textsOnServer("Tasks") == ["bread", "milk"])
            #expect(world.textsOnServer("Lists") == [])
        }
    }

    @Test(
        "do not wait for ever behind their group when the other insert is given up",
        arguments: DatasyncDialect.allCases
    )
    func group(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.context.write { [lists = phone.lists, tasks = phone.tasks] transaction in
                try transaction.insert(["text": "milk"], id: "t", into: tasks)
                try transaction.insert(["text": "shopping"], id: "l", into: lists)
            }
            try await phone.tasks.update(Record(id: "t", ["list": "l"]))
            phone.server.intercept(.requestLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            try await phone.lists.revert("l")
            #expect(try await phone.context.push().waiting == 0)
            #expect(world.textsOnServer("Tasks") == ["milk"])
            #expect(world.textsOnServer("Lists") == [])
            #expect(try await phone.context.operations().isEmpty)
        }
    }

    @Test("are known as one's own when they were deleted before their answer came", arguments: DatasyncDialect.allCases)
    func deletedMeanwhile(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping", "first": "never there"], id: "l")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            #expect(world.textsOnServer("Lists") == ["shopping"])
            try await phone.lists.delete("l")
            let report = try await phone.context.push()
            #expect(report.notTaken.isEmpty)
            #expect(world.textsOnServer("Lists") == [])
            #expect(try await phone.context.operations().isEmpty)
        }
    }

    @Test("go on naming it when others have edited them, and it is made then", arguments: DatasyncDialect.allCases)
    func madeThen(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await phone.lists.insert(["text": "shopping"], id: "l")
            for id in ["t", "u"] { try await phone.tasks.insert(["text": "milk", "list": "l"], id: id) }
            try await phone.lists.delete("l")
            #expect(try await phone.context.push().pushed == 2)
            try await laptop.pullAll()
            for task in try await laptop.store.read(Query("Tasks")).records {
                try await laptop.tasks.update(Record(id: task.id, ["text": "oat milk"]))
            }
            #expect(try await laptop.context.push().pushed == 2)
            try await phone.pullAll()
            try await phone.lists.insert(["text": "groceries"], id: "l")
            #expect(try await phone.context.push().pushed == 1)
            #expect(try await phone.told() == ["groceries: oat milk", "groceries: oat milk"])
        }
    }

    @Test("are made once, also when the row has got its id since", arguments: DatasyncDialect.allCases)
    func onceBesideAnID(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.lists.insert(["text": "shopping"], id: "l")
            try await phone.tasks.insert(["text": "milk", "list": "l"], id: "t")
            try await phone.lists.delete("l")
            phone.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await phone.context.push() }
            try await phone.lists.insert(["text": "groceries"], id: "l")
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.textsOnServer("Tasks") == ["milk"])
            #expect(try await phone.context.operations().isEmpty)
        }
    }

    @Test("are in no conflict with oneself when others have saved them as they were", arguments: [false, true])
    func changedHere(deletes: Bool) async throws {
        try await AssignedIDWorld.with { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await phone.lists.insert(["text": "shopping"], id: "l")
            try await phone.tasks.insert(["text": "milk", "list": "l"], id: "t")
            try await phone.lists.delete("l")
            #expect(try await phone.context.push().pushed == 1)
            try await laptop.pullAll()
            let task = try #require(try await laptop.store.read(Query("Tasks")).records.first)
            if deletes {
                try await phone.tasks.delete("t")
            } else {
                try await phone.tasks.update(Record(id: "t", ["list": .null]))
            }
            try await laptop.tasks.update(Record(id: task.id, ["text": "milk"]))
            #expect(try await laptop.context.push().pushed == 1)
            #expect(try await phone.context.push().notTaken.isEmpty)
            #expect(world.toldByServer() == (deletes ? [] : ["none: milk"]))
        }
    }
}
