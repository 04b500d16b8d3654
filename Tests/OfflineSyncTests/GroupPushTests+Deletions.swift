import OfflineSync
import StoreConformance
import SyncContract
import Testing

// Deletions in groups that are taken back.
extension GroupPushTests {
    @Test("leave out a deletion that was taken back, and what was changed before in no group passes by")
    func passedByDeletionTakenBack() async throws {
        try await write("y", "z")
        _ = try await context.push()
        try await todos.update(Record(id: "y", ["text": "bread"]))
        let todos = todos
        try await context.write { tx in
            try tx.update(Record(id: "z", ["text": "refused"]), in: todos)
            try tx.delete("y", from: todos)
        }
        try await todos.undoDelete("y")
        refuse("z")
        #expect(try await context.push().failures.map(\.itemID) == ["z"])
        #expect(server.texts["y"] == "bread")
        #expect(try await context.operations().map(\.itemID) == ["z"])
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("keep an item that they have changed and deleted when its deletion is taken back")
    func keptWithoutDeletion() async throws {
        try await write("x", "y")
        _ = try await context.push()
        let todos = todos
        try await context.write { tx in
            try tx.update(Record(id: "x", ["text": "bread"]), in: todos)
            try tx.delete("x", from: todos)
            try tx.update(Record(id: "y", ["text": "bread"]), in: todos)
        }
        try await todos.undoDelete("x")
        refuse("x")
        #expect(try await context.push().failures.map(\.itemID) == ["x"])
        #expect(server.texts == ["x": "milk", "y": "milk"], "what was changed behind it waits")
    }

    @Test("keep their order where a later one had deleted what is there again")
    func orderWithoutDeletion() async throws {
        try await write("x", "y")
        _ = try await context.push()
        try await write("x", "y", text: "1")
        let todos = todos
        try await context.write { tx in
            try tx.delete("y", from: todos)
            try tx.update(Record(id: "x", ["text": "2"]), in: todos)
        }
        try await todos.undoDelete("y")
        refuse("x")
        let before = server.written.count
        #expect(try await context.push().failures.map(\.itemID) == ["x"])
        #expect(server.written.count == before, "what was changed behind it waits")
        refuse()
        try await todos.update(Record(id: "x", ["text": "3"]))
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.texts == ["x": "3", "y": "1"])
    }
}
