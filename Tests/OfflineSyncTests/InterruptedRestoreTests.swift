import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

private struct Cut: Error {}

/// Protocol 2 brings a row back in two requests: the tombstone gets the content, then it is shown.
@Suite("Bringing a row back in two requests, interrupted and edited")
struct InterruptedRestoreTests {
    /// What happens between the interruption and the next push.
    enum Meanwhile: CaseIterable {
        case nothing
        case edit
        case editBack
        case editAndPull
        case pull
        case heldInAnEditor
    }

    /// Where the restore is interrupted.
    enum Interruption: CaseIterable {
        case beforeTheTombstone
        case answerOfTheTombstoneLost
        case beforeTheShowing
        case answerOfTheShowingLost
    }

    private func interrupted(
        _ interruption: Interruption,
        _ body: (SyncWorld, SyncWorld.Device, Record) async throws -> Void
    ) async throws {
        let (isCut, isLost) = (Switch(), Switch())
        try await SyncWorld.with(
            .azureMobileApps,
            answeringLaptop: SyncWorld.StandIn { request, emulator in
                let isOfInterest =
                    switch interruption {
                    case .beforeTheTombstone, .answerOfTheTombstoneLost: request.method == "PATCH"
                    case .beforeTheShowing, .answerOfTheShowingLost: request.method == "POST"
                    }
                if isCut.isOn, isOfInterest { throw Cut() }
                let answer = try await emulator.handle(request)
                if isLost.isOn, isOfInterest { throw Cut() }
                return answer
            }
        ) { world in
            try await world.shareItem()
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            let held = try #require(try await laptop.table.read("a"))
            let fault = interruption == .beforeTheTombstone || interruption == .beforeTheShowing ? isCut : isLost
            fault.isOn = true
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedNetwork)
            fault.isOn = false
            try await body(world, laptop, held)
        }
    }

    @Test("meets no conflict with itself", arguments: Interruption.allCases, Meanwhile.allCases)
    func conflictsWithNothing(_ interruption: Interruption, _ meanwhile: Meanwhile) async throws {
        try await interrupted(interruption) { world, laptop, held in
            var text = "mine"
            func edit(_ new: String) async throws {
                text = new
                try await laptop.table.update(Record(id: "a", ["text": .string(new)]))
            }
            switch meanwhile {
            case .nothing: break
            case .edit: try await edit("edited")
            case .editBack:
                try await edit("edited")
                try await edit("mine")
            case .editAndPull:
                try await edit("edited")
                try await laptop.table.pull(options: PullOptions(order: .pullOnly))
            case .pull: try await laptop.table.pull(options: PullOptions(order: .pullOnly))
            case .heldInAnEditor:
                var held = held
                held["text"] = "of the editor"
                text = "of the editor"
                try await laptop.table.update(held)
            }
            let report = try await laptop.context.push()
            #expect(report.conflicts.isEmpty && report.failures.isEmpty)
            #expect(report.pushed == 1)
            #expect(world.onServer() == ["a": text])
            try await laptop.pull()
            #expect(try await laptop.text("a") == text)
            try await world.phone.pull()
            #expect(try await world.phone.text("a") == text)
        }
    }

    @Test(
        "and given up or deleted, leaves the row deleted for everybody",
        arguments: Interruption.allCases,
        [true, false]
    )
    func givenUp(_ interruption: Interruption, _ deletes: Bool) async throws {
        try await interrupted(interruption) { world, laptop, _ in
            if deletes { try await laptop.table.delete("a") } else { try await laptop.table.revert("a") }
            _ = try await laptop.context.push()
            #expect(try await laptop.context.operationErrors().isEmpty)
            try await laptop.pull()
            try await world.phone.pull()
            #expect(world.onServer().isEmpty)
            #expect(try await laptop.text("a") == nil)
            #expect(try await world.phone.text("a") == nil)
        }
    }

    /// Where a deleted row is to be brought back, what is under way is lost, and the server forgets the row for good.
    @Test(
        "and deleted or given up when the server has forgotten the row for good, ends",
        arguments: [DatasyncDialect.datasync, .azureMobileApps],
        [true, false]
    )
    func goneForGood(_ dialect: DatasyncDialect, _ deletes: Bool) async throws {
        let (isCut, isGone) = (Switch(), Switch())
        let rewritten = Switch()
        try await SyncWorld.with(
            dialect,
            answeringLaptop: SyncWorld.StandIn { request, emulator in
                if isCut.isOn, ["PUT", "POST"].contains(request.method) { throw Cut() }
                guard isGone.isOn, request.method != "GET" else { return try await emulator.handle(request) }
                // The tombstone was still there when it was looked at.
                rewritten.isOn = true
                return EmulatorResponse(404)
            }
        ) { world in
            try await world.shareItem()
            try await world.phone.table.delete("a")
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            isCut.isOn = true
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedNetwork)
            isCut.isOn = false
            if deletes { try await laptop.table.delete("a") } else { try await laptop.table.revert("a") }
            isGone.isOn = true
            let report = try await laptop.context.push()
            #expect(rewritten.isOn, "the tombstone is written anew, so that the restore cannot arrive any more")
            #expect(report.conflicts.isEmpty && report.failures.isEmpty)
            #expect(try await laptop.context.operations().isEmpty)
            #expect(try await laptop.text("a") == nil)
            #expect(try await laptop.context.push().requests == 0)
        }
    }

    /// What is done after the interruption.
    enum Then: CaseIterable {
        case nothing
        case inserts
        case deletes
    }

    /// The predecessor changes no tombstone: one is brought back and deleted again, and here that is interrupted.
    @Test(
        "at the predecessor, where the row is live in between, meets no conflict with itself",
        arguments: [DatasyncDialect.datasync, .azureMobileApps],
        Then.allCases
    )
    func predecessor(_ dialect: DatasyncDialect, _ then: Then) async throws {
        let (isRestoreCut, isDeletionCut) = (Switch(), Switch())
        let restoring = dialect == .datasync ? "PATCH" : "POST"
        try await SyncWorld.with(
            dialect,
            edition: .predecessor,
            answeringLaptop: SyncWorld.StandIn { request, emulator in
                if isRestoreCut.isOn, request.path.hasSuffix("/a"), request.method == restoring { throw Cut() }
                if isDeletionCut.isOn, request.method == "DELETE" { throw Cut() }
                return try await emulator.handle(request)
            }
        ) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.delete("a")
            _ = try await laptop.context.push()
            try await laptop.table.insert(["text": "mine"], id: "a")
            // It may be brought back, so that its tombstone is written anew.
            isRestoreCut.isOn = true
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedNetwork)
            isRestoreCut.isOn = false
            try await laptop.table.delete("a")
            isDeletionCut.isOn = true
            #expect(try await syncErrorCode { _ = try await laptop.context.push() } == .pushAbortedNetwork)
            #expect(world.onServer() == ["a": "mine"])
            isDeletionCut.isOn = false
            let isThere = try await laptop.text("a") != nil
            switch then {
            case .nothing: break
            case .inserts where isThere: try await laptop.table.update(Record(id: "a", ["text": "more"]))
            case .inserts: try await laptop.table.insert(["text": "more"], id: "a")
            case .deletes where isThere: try await laptop.table.delete("a")
            case .deletes: break
            }
            let text = try await laptop.text("a")
            let report = try await laptop.context.push()
            #expect(report.conflicts.isEmpty && report.failures.isEmpty && report.pushed == 1)
            #expect(world.onServer() == (text.map { ["a": $0] } ?? [:]))
        }
    }
}
