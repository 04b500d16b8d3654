import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

@Suite("Further ways to settle what the server did not take")
struct FurtherResolutionTests {
    private func conflict(
        _ dialect: DatasyncDialect,
        byDeletion: Bool = false,
        _ body: (SyncWorld, TableOperationError<Record>) async throws -> Void
    ) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            if byDeletion {
                try await world.laptop.table.delete("a")
            } else {
                try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            }
            _ = try await world.laptop.context.push()
            try await body(world, try await world.laptop.onlyError())
        }
    }

    @Test("the local row stays, and nothing is sent", arguments: DatasyncDialect.allCases)
    func keepLocal(_ dialect: DatasyncDialect) async throws {
        try await conflict(dialect) { world, error in
            let laptop = world.laptop
            try await laptop.context.resolve(error, with: .keepLocal())
            #expect(try await laptop.text("a") == "mine")
            #expect(try await laptop.context.push().pushed == 0)
            #expect(world.onServer() == ["a": "theirs"])
            // A pull brings no news: the row that was seen.
            try await laptop.pull()
            #expect(try await laptop.text("a") == "mine")
            // What is changed later goes over the row that was seen.
            try await laptop.table.update(Record(id: "a", ["text": "later"]))
            #expect(try await laptop.context.push().conflicts.isEmpty)
            #expect(world.onServer() == ["a": "later"])
        }
    }

    @Test(
        "the local row stays where the server has nothing, and the next change makes it anew",
        arguments: DatasyncDialect.allCases
    )
    func keepLocalOverNothing(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            world.emulator.reset()
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            #expect(try await laptop.context.push().conflicts.map(\.isMissingOnServer) == [true])
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepLocal())
            #expect(try await laptop.context.push().pushed == 0)
            #expect(try await laptop.text("a") == "mine" && world.onServer().isEmpty)
            try await laptop.table.update(Record(id: "a", ["text": "later"]))
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.isEmpty)
            #expect(world.onServer() == ["a": "later"])
            try await laptop.table.update(Record(id: "a", ["text": "latest"]))
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["a": "latest"])
        }
    }

    @Test(
        "the local row stays where the server has refused to make it, and the next change makes it",
        arguments: DatasyncDialect.allCases,
        [400, 422]
    )
    func keepLocalOfRefusedInsert(_ dialect: DatasyncDialect, _ status: Int) async throws {
        try await SyncWorld.with(dialect) { world in
            let laptop = world.laptop
            laptop.context.conflictPolicy = .serverWins
            try await laptop.table.insert(["text": "mine"], id: "a")
            world.emulator.inject(.respond(EmulatorResponse(status), times: 1) { $0.method == "POST" })
            #expect(try await laptop.context.push().failures.count == 1)
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepLocal())
            try await laptop.table.update(Record(id: "a", ["text": "later"]))
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.notTaken.isEmpty)
            #expect(try await laptop.text("a") == "later")
            #expect(world.onServer() == ["a": "later"])
            #expect(try await laptop.context.journal().isEmpty)
        }
    }

    @Test("the local row becomes any row, and nothing is sent")
    func keepOther() async throws {
        try await conflict(.datasync) { world, error in
            try await world.laptop.context.resolve(error, with: .keepLocal(Record(id: "a", ["text": "other"])))
            #expect(try await world.laptop.text("a") == "other")
            #expect(try await world.laptop.context.operations().isEmpty)
        }
    }

    @Test(
        "a deleted row is there again with given values, and with what else it had",
        arguments: DatasyncDialect.allCases
    )
    func keepOtherThanDeletion(_ dialect: DatasyncDialect) async throws {
        try await conflict(dialect, byDeletion: true) { world, error in
            let laptop = world.laptop
            try await laptop.context.resolve(error, with: .keepLocal(Record(id: "a", ["text": "other"])))
            let row = try #require(try await laptop.table.read("a"))
            #expect(row["text"] == "other" && row["complete"] == false)
            #expect(try await laptop.context.operations().isEmpty)
        }
    }

    @Test("a null that is set later goes out over a default of the server's", arguments: DatasyncDialect.allCases)
    func nullAfterKeptRow(_ dialect: DatasyncDialect) async throws {
        try await conflict(dialect) { world, error in
            let laptop = world.laptop
            try await laptop.context.resolve(error, with: .keepLocal(Record(id: "a", ["text": "theirs"])))
            // Another version of the row that was seen: it is no own one that the server has completed.
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            #expect(try await world.phone.context.push().pushed == 1)
            try await laptop.table.update(Record(id: "a", ["complete": .null]))
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(world.emulator.rows(in: "TodoItem").map { $0["complete"] } == [.null])
            #expect(try await laptop.table.read("a")?["complete"] == .null)
        }
    }

    @Test("the row is deleted instead, over what the server has", arguments: DatasyncDialect.allCases)
    func deleteInstead(_ dialect: DatasyncDialect) async throws {
        try await conflict(dialect) { world, error in
            let laptop = world.laptop
            try await laptop.context.resolve(error, with: .deleteInstead)
            #expect(try await laptop.text("a") == nil)
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer().isEmpty)
        }
    }

    @Test("refused changes are sent again when asked for, all or one")
    func retry() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            for id in ["a", "b"] { try await laptop.table.insert(["text": "milk"], id: id) }
            world.emulator.inject(.respond(EmulatorResponse(400), times: 2) { $0.method == "POST" })
            #expect(try await laptop.context.push().failures.count == 2)
            #expect(try await laptop.context.push().pushed == 0)
            let first = try #require(try await laptop.context.operations().first)
            try await laptop.context.retry(first)
            #expect(try await syncErrorCode { try await laptop.context.retry(first) } == .operationChanged)
            #expect(try await laptop.context.push().pushed == 1)
            #expect(try await laptop.context.retryRefused() == 1)
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["a": "milk", "b": "milk"])
        }
    }

    @Test("a change that was edited and refused once more is not sent again as it was read before")
    func retryOfAnEditedChange() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "a")
            world.emulator.inject(.respond(EmulatorResponse(400), times: 2) { $0.method == "POST" })
            #expect(try await laptop.context.push().failures.count == 1)
            let read = try #require(try await laptop.context.operations().first)
            try await laptop.table.update(Record(id: "a", ["text": "cream"]))
            #expect(try await laptop.context.push().failures.count == 1)
            #expect(try await syncErrorCode { try await laptop.context.retry(read) } == .operationChanged)
            #expect(try await laptop.context.operations().map(\.state) == [.failed])
        }
    }
}
