import DatasyncEmulator
import OfflineSync
import SyncContract
import Testing

/// The actions of the original's table operation errors. Its errors came out of a push without the number of their
/// operation: cancelling reported success and left the operation, keeping failed after it had changed the row.
@Suite("As in the original: settling what was not taken")
struct OriginalErrorTests {
    typealias TodoItem = OriginalWorld.TodoItem

    private let world: OriginalWorld

    init() throws { world = try OriginalWorld() }

    /// A change of `a` that met another one, or its deletion.
    private func conflict(_ kind: TableOperation.Kind) async throws -> TableOperationError<TodoItem> {
        switch kind {
        case .insert:
            try await world.make("a")
            try await world.todos.insert(TodoItem(id: "a", text: "mine"))
        case .update, .delete:
            try await world.share()
            try await world.change("a", "theirs")
            if kind == .update {
                try await world.todos.update("a") { $0.text = "mine" }
            } else {
                try await world.todos.delete("a")
            }
        }
        #expect(try await world.context.push().conflicts.count == 1)
        let error = try await world.onlyError()
        world.wire.clear()
        return error
    }

    private func resolve(_ error: TableOperationError<TodoItem>, _ resolution: ConflictResolution<TodoItem>)
        async throws
    {
        try await world.context.resolve(error, with: resolution)
        #expect(try await world.todos.operationErrors().isEmpty)
        #expect(world.wire.lines.isEmpty, "settling sends nothing")
    }

    @Test("an error tells operation, item, base and what the server said")
    func fields() async throws {
        let error = try await conflict(.update)
        #expect(error.table == "TodoItem" && error.itemID == "a" && error.kind == .update && error.status == 412)
        #expect(error.item?.text == "mine" && error.serverItem?.text == "theirs" && error.baseItem?.text == "milk")
        #expect(!error.isDeletedOnServer)
    }

    /// In the original the row was gone, and the next pull did not bring it back.
    @Test("cancel and discard: the change is gone, and the row is as the server has shown it")
    func discard() async throws {
        try await resolve(conflict(.update), .discard)
        #expect(try await world.kinds().isEmpty)
        #expect(try await world.texts() == ["a": "theirs"])
    }

    @Test("cancel and discard an insert: its row is gone, unless the server has shown one of this id")
    func discardInsert() async throws {
        try await resolve(conflict(.insert), .discard)
        #expect(try await world.kinds().isEmpty)
        #expect(try await world.texts() == ["a": "a"])
        try await world.todos.insert(TodoItem(id: "b", text: "b"))
        world.emulator.inject(.respond(EmulatorResponse(400)))
        _ = try await world.context.push()
        try await world.context.resolve(world.onlyError(), with: .discard)
        #expect(try await world.kinds().isEmpty)
        #expect(try await world.texts() == ["a": "a"])
    }

    @Test("cancel and update: the change is gone, the row is the given one, and nothing is sent")
    func keepLocal() async throws {
        try await resolve(conflict(.update), .keepLocal(TodoItem(id: "a", text: "local")))
        #expect(try await world.kinds().isEmpty)
        #expect(try await world.texts() == ["a": "local"])
        #expect(try await world.context.push().requests == 0)
    }

    /// The original wanted an item and failed without one.
    @Test("cancel and update without an item: the row stays as it is")
    func keepLocalAsItIs() async throws {
        try await resolve(conflict(.update), .keepLocal())
        #expect(try await world.kinds().isEmpty)
        #expect(try await world.texts() == ["a": "mine"])
    }

    @Test("cancel and update with the server's item: one word")
    func takeServer() async throws {
        try await resolve(conflict(.update), .takeServer)
        #expect(try await world.kinds().isEmpty)
        #expect(try await world.texts() == ["a": "theirs"])
    }

    /// In the original the app had to put the server's version into its own item to get its way.
    @Test("keep: the local row goes over the server's", arguments: [TableOperation.Kind.insert, .update, .delete])
    func keepMine(_ kind: TableOperation.Kind) async throws {
        try await resolve(conflict(kind), .keepMine)
        #expect(try await world.context.push().notTaken.isEmpty)
        #expect(world.onServer == (kind == .delete ? [:] : ["a": "mine"]))
        #expect(try await world.texts() == world.onServer)
    }

    /// In the original a kept delete with an item stayed a delete. Content that is given is content that is wanted.
    @Test(
        "keep and update the item: the given content goes over the server's row, also after a deletion",
        arguments: [TableOperation.Kind.insert, .update, .delete]
    )
    func keepMerged(_ kind: TableOperation.Kind) async throws {
        try await resolve(conflict(kind), .keepMerged(TodoItem(id: "a", text: "merged")))
        #expect(try await world.texts() == ["a": "merged"])
        #expect(try await world.context.push().notTaken.isEmpty)
        #expect(world.onServer == ["a": "merged"])
    }

    @Test("an insert that met a row becomes an update of it")
    func insertToUpdate() async throws {
        try await resolve(conflict(.insert), .keepMine)
        _ = try await world.context.push()
        #expect(world.wire.lines == ["PATCH /tables/TodoItem/a"])
    }

    @Test(
        "modify to delete: the row is gone, and so is the server's",
        arguments: [TableOperation.Kind.insert, .update]
    )
    func toDelete(_ kind: TableOperation.Kind) async throws {
        try await resolve(conflict(kind), .deleteInstead)
        #expect(try await world.texts().isEmpty)
        #expect(try await world.kinds() == [.delete])
        #expect(try await world.context.push().notTaken.isEmpty)
        #expect(world.onServer.isEmpty)
    }

    @Test("modify a delete to an update: the row is back")
    func deleteToUpdate() async throws {
        let error = try await conflict(.delete)
        #expect(error.item == nil, "what is deleted is shown to those who ask for rows")
        try await resolve(error, .keepMerged(try #require(error.baseItem)))
        #expect(try await world.texts() == ["a": "milk"])
        #expect(try await world.kinds() == [.update])
    }

    /// The original knew no such check: it altered the row of a change that was another one by then.
    @Test(
        "an error of a change that was edited or settled since is refused, and changes nothing",
        arguments: [true, false]
    )
    func stale(_ isEdited: Bool) async throws {
        let error = try await conflict(.update)
        if isEdited {
            try await world.todos.update("a") { $0.text = "newer" }
        } else {
            try await resolve(error, .takeServer)
        }
        let code = try await world.refusal { try await world.context.resolve(error, with: .keepLocal()) }
        #expect(code == .operationChanged)
    }

    @Test("settling one change leaves the others and their errors")
    func relationship() async throws {
        for id in ["a", "b"] { try await world.share(id) }
        for id in ["a", "b"] {
            try await world.change(id, "theirs")
            try await world.todos.update(id) { $0.text = "mine" }
        }
        _ = try await world.context.push()
        let errors = try await world.todos.operationErrors()
        try await world.context.resolve(errors[0], with: .takeServer)
        #expect(try await world.onlyError().itemID == "b")
        #expect(try await world.texts() == ["a": "theirs", "b": "mine"])
        #expect(try await world.context.operations().map(\.itemID) == ["b"])
    }
}
