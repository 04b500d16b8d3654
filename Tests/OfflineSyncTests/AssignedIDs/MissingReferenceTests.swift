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
}
