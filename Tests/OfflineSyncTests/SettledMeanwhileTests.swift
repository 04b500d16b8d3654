import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import OfflineSync
import ReferenceStore
import SyncContract
import Synchronization
import Testing

@Suite("Conflicts about which somebody does something else than answer while a push asks")
struct SettledMeanwhileTests {
    private func conflict(_ body: (SyncWorld) async throws -> Void) async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            try await body(world)
        }
    }

    @Test("a decision for an item that is edited while it is asked for is not carried out, and the report says so")
    func editedMeanwhile() async throws {
        try await conflict { world async throws in
            let laptop = world.laptop
            laptop.table.conflictPolicy = .merge { _ in
                try await laptop.table.update(Record(id: "a", ["text": "newer"]))
                return .takeServer
            }
            let report = try await laptop.context.push()
            #expect(report.pushed == 0 && report.notTaken.isEmpty && report.overtaken == 1, "\(report)")
            #expect(try await laptop.text("a") == "newer")
            #expect(try await laptop.context.operations().map(\.state) == [.pending])
            #expect(try await laptop.context.journal().isEmpty)
        }
    }

    private final class Settling: SyncContextDelegate {
        func syncContext(
            _ context: SyncContext,
            resolve error: TableOperationError<Record>
        ) async throws -> ConflictResolution<Record>? {
            try await context.resolve(error, with: .keepMine)
            return nil
        }
    }

    @Test("a delegate that settles it itself has it sent by the next push; nobody is told that it was not taken")
    func settledByDelegate() async throws {
        try await conflict { world async throws in
            let (context, delegate) = (world.laptop.context, Settling())
            context.delegate = delegate
            var events = context.events.makeAsyncIterator()
            let report = try await context.push()
            #expect(report.pushed == 0 && report.notTaken.isEmpty && report.overtaken == 1, "\(report)")
            var lines: [String] = []
            while lines.last?.hasPrefix("push ended") != true, let event = await events.next() {
                if case .operationNotTaken = event { Issue.record("it was settled") }
                lines.append(event.logLine)
            }
            #expect(try await context.push().pushed == 1)
            #expect(world.onServer() == ["a": "mine"])
            withExtendedLifetime(delegate) {}
        }
    }

    /// Gives up what the server does not take, instead of answering.
    private final class GivingUp: SyncContextDelegate {
        func syncContext(
            _ context: SyncContext,
            resolve error: TableOperationError<Record>
        ) async throws -> ConflictResolution<Record>? {
            try await context.table(error.table).revert(error.itemID)
            return nil
        }
    }

    @Test("a refused change that a delegate gives up itself is not told as overtaken: it is none any more")
    func givenUpByDelegate() async throws {
        try await SyncWorld.with(.datasync) { world async throws in
            let (context, delegate) = (world.laptop.context, GivingUp())
            context.delegate = delegate
            for id in ["a", "b"] { try await world.laptop.table.insert(["text": "milk"], id: id) }
            world.emulator.inject(
                .respond(EmulatorResponse(403)) { String(decoding: $0.body, as: UTF8.self).contains("\"id\":\"b\"") }
            )
            let report = try await context.push()
            #expect(report.pushed == 1 && report.notTaken.isEmpty && report.overtaken == 0, "\(report)")
            #expect(try await context.operations().map(\.isUndo) == [true], "it may have arrived, and is taken back")
            withExtendedLifetime(delegate) {}
        }
    }

    @Test("a conflict in a table that is not pushed is none of the report's business")
    func settledInAnotherTable() async throws {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem", "Other"]))
        try emulator.seed([["id": "a", "text": "milk"]], in: "TodoItem")
        let server = InterceptedServer(
            try DatasyncRemote(
                baseURL: EmulatorTransport.url,
                dialect: .datasync,
                transport: EmulatorTransport(emulator)
            )
        )
        let store = MemoryStore(
            try StoreSchema([todoTable, TableDefinition("Other", columns: [.init("text", .string)])])
        )
        let context = SyncContext(store: store, remote: server)
        let (todos, others) = (try context.table("TodoItem"), try context.table("Other"))
        try await todos.pull()
        try await todos.update(Record(id: "a", ["text": "mine"]))
        try emulator.seed([["id": "a", "text": "theirs"]], in: "TodoItem")
        let conflict = try #require(try await context.push().conflicts.first)
        try await others.insert(["text": "other"], id: "b")
        server.intercept(.whileUnderWay { try await context.resolve(conflict, with: .keepMine) })
        let report = try await context.push(others)
        #expect(report.pushed == 1 && report.overtaken == 0, "\(report)")
        #expect(try await context.push().pushed == 1)
    }

    @Test("a conflict of an earlier push that is settled while others are sent is in the report")
    func settledWhileOthersAreSent() async throws {
        try await conflict { world async throws in
            let laptop = world.laptop
            #expect(try await laptop.context.push().conflicts.count == 1)
            try await laptop.table.insert(["text": "other"], id: "b")
            laptop.server.intercept(
                .whileUnderWay { try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine) }
            )
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.notTaken.isEmpty && report.overtaken == 1, "\(report)")
            let last = try await laptop.context.push()
            #expect(last.pushed == 1 && last.overtaken == 0, "\(last)")
            #expect(world.onServer() == ["a": "mine", "b": "other"])
        }
    }

    @Test("a conflict of an earlier push that is settled in one that ends early is not told as overtaken")
    func settledBeforeAnEarlyEnd() async throws {
        try await conflict { world async throws in
            let laptop = world.laptop
            #expect(try await laptop.context.push().conflicts.count == 1)
            for id in ["b", "c"] { try await laptop.table.insert(["text": "other"], id: id) }
            laptop.server.intercept(
                .whileUnderWay { try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine) },
                .requestLost
            )
            let error = await #expect(throws: SyncError.self) { _ = try await laptop.context.push() }
            #expect(error?.code == .pushAbortedNetwork)
            #expect(error?.push?.pushed == 1 && error?.push?.overtaken == 0, "its turn has not come")
            #expect(try await laptop.context.push().pushed == 2)
            #expect(world.onServer() == ["a": "mine", "b": "other", "c": "other"])
        }
    }

    @Test("an edit of a change that was in conflict before, while others are sent, is in the report")
    func editedWhileOthersAreSent() async throws {
        try await conflict { world async throws in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "other"], id: "b")
            laptop.server.intercept(
                .whileUnderWay {},
                .whileUnderWay { try await laptop.table.update(Record(id: "a", ["text": "newer"])) }
            )
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.notTaken.isEmpty)
            #expect(report.overtaken == 1, "it is neither on the server nor among the errors: \(report)")
        }
    }

    @Test("an answer of nil from a question that was cancelled with the push is none: it is asked again")
    func cancelledWithoutAnswer() async throws {
        try await conflict { world async throws in
            let context = world.laptop.context
            context.conflictPolicy = .merge { _ in
                unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
                return nil
            }
            let push = Task { [context] in try await context.push() }
            await #expect(throws: CancellationError.self) { _ = try await push.value }
            context.conflictPolicy = .merge { _ in .takeServer }
            #expect(try await context.push().notTaken.isEmpty)
            #expect(try await world.laptop.text("a") == "theirs")
        }
    }

    @Test("a closure that throws leaves a conflict, which is told")
    func toldWhenItThrows() async throws {
        struct Failure: Error {}
        try await conflict { world async throws in
            let context = world.laptop.context
            context.conflictPolicy = .merge { _ in throw Failure() }
            var events = context.events.makeAsyncIterator()
            await #expect(throws: Failure.self) { _ = try await context.push() }
            var told = 0
            while let event = await events.next() {
                if case .operationNotTaken = event { told += 1 }
                if event.logLine.hasPrefix("push ended") { break }
            }
            #expect(told == 1)
        }
    }

    @Test("a decision that the table cannot hold leaves a conflict, which is told once")
    func toldWhenUnfit() async throws {
        try await conflict { world async throws in
            let context = world.laptop.context
            context.conflictPolicy = .merge { _ in .keepMerged(Record(id: "a", ["colour": "red"])) }
            var events = context.events.makeAsyncIterator()
            await #expect(throws: (any Error).self) { _ = try await context.push() }
            var told = 0
            while let event = await events.next() {
                if case .operationNotTaken = event { told += 1 }
                if event.logLine.hasPrefix("push ended") { break }
            }
            #expect(told == 1)
            #expect(try await world.laptop.onlyError().isConflict)
        }
    }

    @Test(
        "a sync names what earlier pushes have left, in whichever order it goes",
        arguments: [PullOptions.Order.pushFirst, .pullFirst]
    )
    func namedInBothOrders(_ order: PullOptions.Order) async throws {
        try await conflict { world async throws in
            let laptop = world.laptop
            _ = try await laptop.context.push()
            var options = SyncOptions()
            options.order = order
            let context = SyncContext(store: laptop.store, remote: laptop.server, options: options)
            #expect(try await context.sync().notTaken.map(\.itemID) == ["a"])
        }
    }

    private struct Todo: SyncItem {
        var id = ""
        var text = ""
        var version: String?
    }

    @Test("a merge of items brings back nothing that either side has deleted", arguments: [true, false])
    func deletedOnOneSide(_ isDeletedHere: Bool) async throws {
        try await SyncWorld.with(.datasync) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await world.shareItem()
            if isDeletedHere {
                try await phone.table.update(Record(id: "a", ["text": "theirs"]))
                try await laptop.table.delete("a")
            } else {
                try await phone.table.delete("a")
                try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            }
            _ = try await phone.context.push()
            let todos = try laptop.context.table("TodoItem", of: Todo.self)
            // As the article prints it.
            todos.conflictPolicy = .merge { conflict in
                guard var merged = conflict.serverItem, let mine = conflict.item else { return .takeServer }
                if mine.text != conflict.baseItem?.text { merged.text = mine.text }
                return .keepMerged(merged)
            }
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(world.onServer() == (isDeletedHere ? ["a": "theirs"] : [:]))
            #expect(try await laptop.text("a") == (isDeletedHere ? "theirs" : nil))
        }
    }

    @Test("errors show no item of a type for what is deleted, and the row to those who ask for rows")
    func deletedInErrors() async throws {
        try await SyncWorld.with(.datasync) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await world.shareItem()
            try await phone.table.delete("a")
            _ = try await phone.context.push()
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            _ = try await laptop.context.push()
            let typed = try await laptop.context.table("TodoItem", of: Todo.self).operationErrors()
            #expect(typed.map(\.item?.text) == ["mine"] && typed.allSatisfy { $0.serverItem == nil })
            #expect(typed.map(\.isDeletedOnServer) == [true])
            let rows = try await laptop.context.operationErrors()
            #expect(rows.allSatisfy { $0.serverItem?.isDeleted == true })
        }
    }
}
