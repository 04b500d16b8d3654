import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

@Suite("Conflicts with a real server")
struct ConflictTests {
    /// The phone has changed the item on the server, the laptop has changed it locally and pushed.
    private func conflict(
        _ dialect: DatasyncDialect,
        _ body: (SyncWorld, TableOperationError<Record>) async throws -> Void
    ) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            let report = try await world.laptop.context.push()
            #expect(report.conflicts.count == 1 && report.pushed == 0)
            try await body(world, try await world.laptop.onlyError())
        }
    }

    @Test("a conflict is stored with both sides, and nothing is overwritten", arguments: DatasyncDialect.allCases)
    func stored(_ dialect: DatasyncDialect) async throws {
        try await conflict(dialect) { world, error in
            #expect(error.isConflict && error.itemID == "a" && error.kind == .update)
            #expect(error.item?["text"] == "mine")
            #expect(error.serverItem?["text"] == "theirs")
            #expect(try await world.laptop.text("a") == "mine")
            #expect(try await world.laptop.table.syncStates() == ["a": .conflicted])
            #expect(try await world.laptop.context.push().requests == 0, "it waits for a resolution")
            try await world.laptop.pull()
            #expect(try await world.laptop.text("a") == "mine", "a pull leaves it alone")
            #expect(try await world.laptop.context.operationErrors().count == 1)
        }
    }

    @Test("keep mine: the local change wins with the next push", arguments: DatasyncDialect.allCases)
    func keepMine(_ dialect: DatasyncDialect) async throws {
        try await conflict(dialect) { world, error in
            try await world.laptop.context.resolve(error, with: .keepMine)
            #expect(try await world.laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["a": "mine"])
            try await world.phone.pull()
            #expect(try await world.phone.text("a") == "mine")
        }
    }

    @Test("keep mine is not a blind overwrite: another change since is another conflict")
    func keepMineAgain() async throws {
        try await conflict(.datasync) { world, error in
            try await world.phone.table.update(Record(id: "a", ["text": "theirs again"]))
            _ = try await world.phone.context.push()
            try await world.laptop.context.resolve(error, with: .keepMine)
            #expect(try await world.laptop.context.push().conflicts.count == 1)
            #expect(world.onServer() == ["a": "theirs again"])
        }
    }

    @Test("take the server's: the local row becomes the server's", arguments: DatasyncDialect.allCases)
    func takeServer(_ dialect: DatasyncDialect) async throws {
        try await conflict(dialect) { world, error in
            try await world.laptop.context.resolve(error, with: .takeServer)
            #expect(try await world.laptop.text("a") == "theirs")
            #expect(try await world.laptop.context.operations().isEmpty)
            #expect(try await world.laptop.context.operationErrors().isEmpty)
            #expect(world.onServer() == ["a": "theirs"])
        }
    }

    @Test("take the server's takes the newest row that a pull brought", arguments: DatasyncDialect.allCases)
    func takeNewest(_ dialect: DatasyncDialect) async throws {
        try await conflict(dialect) { world, error in
            try await world.phone.table.update(Record(id: "a", ["text": "newest"]))
            _ = try await world.phone.context.push()
            #expect(try await world.laptop.pull().skipped == 1)
            try await world.laptop.context.resolve(error, with: .takeServer)
            #expect(try await world.laptop.text("a") == "newest")
        }
    }

    @Test(
        "discard: the row is as the server last had it, as far as that is known here",
        arguments: DatasyncDialect.allCases
    )
    func discard(_ dialect: DatasyncDialect) async throws {
        try await conflict(dialect) { world, error in
            try await world.laptop.pull()
            try await world.laptop.context.resolve(error, with: .discard)
            #expect(try await world.laptop.text("a") == "theirs")
            #expect(try await world.laptop.context.operations().isEmpty)
            try await world.laptop.pull()
            #expect(try await world.laptop.text("a") == "theirs")
        }
    }

    @Test("a change is not given up that was answered since it was read")
    func discardOfAnAnsweredChange() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            let read = try #require(try await laptop.context.operations().first)
            _ = try await laptop.context.push()
            #expect(try await syncErrorCode { try await laptop.context.discard(read) } == .operationChanged)
            #expect(try await laptop.onlyError().isConflict)
            try await laptop.context.discard(try #require(try await laptop.context.operations().first))
            #expect(try await laptop.context.operations().isEmpty)
        }
    }

    @Test("a refused change that is tried again can be given up as it was read")
    func discardOfARetriedChange() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "mine"], id: "a")
            world.emulator.inject(.respond(EmulatorResponse(400), times: 1) { $0.method == "POST" })
            _ = try await laptop.context.push()
            let read = try #require(try await laptop.context.operations().first)
            #expect(read.state == .failed)
            try await laptop.context.retry(read)
            try await laptop.context.discard(read)
            #expect(try await laptop.context.operations().isEmpty)
        }
    }

    @Test("a merge is written over the server's row", arguments: DatasyncDialect.allCases)
    func merged(_ dialect: DatasyncDialect) async throws {
        try await conflict(dialect) { world, error in
            let both = Record(id: "a", ["text": "mine and theirs"])
            try await world.laptop.context.resolve(error, with: .keepMerged(both))
            _ = try await world.laptop.context.push()
            #expect(world.onServer() == ["a": "mine and theirs"])
        }
    }

    @Test("a decision with another id is refused, and leaves the conflict", arguments: DatasyncDialect.allCases)
    func anotherID(_ dialect: DatasyncDialect) async throws {
        try await conflict(dialect) { world, error in
            let other = Record(id: "b", ["text": "mine and theirs"])
            let context = world.laptop.context
            for resolution in [ConflictResolution.keepMerged(other), .keepLocal(other)] {
                let code = try await syncErrorCode { try await context.resolve(error, with: resolution) }
                #expect(code == .invalidAction)
            }
            #expect(try await world.laptop.text("a") == "mine")
            #expect(try await world.laptop.text("b") == nil)
            #expect(try await world.laptop.onlyError().isConflict)
        }
    }

    @Test("the id of a decision may be spelled as the table allows it", arguments: [true, false])
    func spelledID(_ ignoresCase: Bool) async throws {
        // Devices tell ids apart as the servers of the protocol do.
        try await SyncWorld.with(ignoresCase ? .azureMobileApps : .datasync) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            _ = try await laptop.context.push()
            let error = try await laptop.onlyError()
            let merged = ConflictResolution.keepMerged(Record(id: "A", ["text": "both"]))
            let code = try await syncErrorCode { try await laptop.context.resolve(error, with: merged) }
            #expect(code == (ignoresCase ? nil : .invalidAction))
            #expect(try await laptop.text("a") == (ignoresCase ? "both" : "mine"))
        }
    }

    @Test(
        "a change of an item that was deleted on the server: mine brings it back",
        arguments: DatasyncDialect.allCases
    )
    func restore(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            _ = try await world.laptop.context.push()
            let error = try await world.laptop.onlyError()
            #expect(error.isConflict && error.serverItem?.isDeleted == true)
            try await world.laptop.context.resolve(error, with: .keepMine)
            let report = try await world.laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.isEmpty)
            #expect(world.onServer() == ["a": "mine"])
            try await world.phone.pull()
            #expect(try await world.phone.text("a") == "mine")
        }
    }

    @Test("a change of an item that was deleted on the server: theirs removes it", arguments: DatasyncDialect.allCases)
    func acceptDeletion(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            _ = try await world.laptop.context.push()
            try await world.laptop.context.resolve(try await world.laptop.onlyError(), with: .takeServer)
            #expect(try await world.laptop.text("a") == nil)
            #expect(try await world.laptop.context.operations().isEmpty)
        }
    }

    @Test(
        "a delete of an item that was changed on the server is a conflict; theirs brings it back",
        arguments: DatasyncDialect.allCases
    )
    func deleteMeetsChange(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await world.laptop.table.delete("a")
            _ = try await world.laptop.context.push()
            let error = try await world.laptop.onlyError()
            #expect(error.kind == .delete && error.item?["text"] == "milk")
            #expect(world.onServer() == ["a": "theirs"])
            try await world.laptop.context.resolve(error, with: .takeServer)
            #expect(try await world.laptop.text("a") == "theirs")
        }
    }

    @Test("both deleted: nothing to settle", arguments: DatasyncDialect.allCases)
    func bothDeleted(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            for device in [world.phone, world.laptop] { try await device.table.delete("a") }
            _ = try await world.phone.context.push()
            let report = try await world.laptop.context.push()
            #expect(report.conflicts.isEmpty && report.pushed == 1)
        }
    }

    @Test("both changed it to the same: nothing to settle", arguments: DatasyncDialect.allCases)
    func sameChange(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            for device in [world.phone, world.laptop] {
                try await device.table.update(Record(id: "a", ["text": "same"]))
            }
            _ = try await world.phone.context.push()
            let report = try await world.laptop.context.push()
            #expect(report.conflicts.isEmpty && report.pushed == 1)
            let versions = try await (world.phone.table.read("a")?.version, world.laptop.table.read("a")?.version)
            #expect(versions.0 == versions.1)
        }
    }

    @Test("two devices insert one id: a conflict with the server's row", arguments: DatasyncDialect.allCases)
    func sameID(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.phone.table.insert(["text": "theirs"], id: "a")
            try await world.laptop.table.insert(["text": "mine"], id: "a")
            _ = try await world.phone.context.push()
            _ = try await world.laptop.context.push()
            let error = try await world.laptop.onlyError()
            #expect(error.isConflict && error.serverItem?["text"] == "theirs")
            try await world.laptop.context.resolve(error, with: .keepMine)
            _ = try await world.laptop.context.push()
            #expect(world.onServer() == ["a": "mine"])
        }
    }

    @Test("a resolution of an outdated error is refused and changes nothing")
    func outdated() async throws {
        try await conflict(.datasync) { world, error in
            try await world.laptop.table.update(Record(id: "a", ["text": "edited since"]))
            let code = try await syncErrorCode { try await world.laptop.context.resolve(error, with: .discard) }
            #expect(code == .operationChanged)
            #expect(try await world.laptop.text("a") == "edited since")
            #expect(try await world.laptop.context.operations().count == 1)
        }
    }

    @Test("a resolution works once")
    func twice() async throws {
        try await conflict(.datasync) { world, error in
            try await world.laptop.context.resolve(error, with: .takeServer)
            let code = try await syncErrorCode { try await world.laptop.context.resolve(error, with: .takeServer) }
            #expect(code == .operationChanged)
        }
    }
}
