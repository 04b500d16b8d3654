import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

/// Every local change, what others did meanwhile, every answer to the push, and every way to take it back afterwards.
@Suite("Whatever was answered and decided", .timeLimit(.minutes(5)))
struct DecisionMatrixTests {
    enum Change: CaseIterable { case update, delete, updateThenDelete, insert }
    enum Theirs: CaseIterable { case nothing, change, deletion }
    enum Answer: CaseIterable { case none, proper, refusal, failure, failureAfterwards, answerLost, requestLost }
    enum Decision: CaseIterable {
        case revert, undoDelete, discard, discardError, takeServer, keepLocal, deleteInstead, edit, forcePurge
    }

    @Test(
        "nothing of others is overwritten unseen, nothing is stuck, and both sides are equal in the end",
        arguments: DatasyncDialect.allCases,
        Change.allCases
    )
    func matrix(_ dialect: DatasyncDialect, _ change: Change) async throws {
        for theirs in Theirs.allCases {
            for answer in Answer.allCases {
                for decision in Decision.allCases {
                    try await play(dialect, change, theirs, answer, decision)
                }
            }
        }
    }

    private func play(
        _ dialect: DatasyncDialect,
        _ change: Change,
        _ theirs: Theirs,
        _ answer: Answer,
        _ decision: Decision
    ) async throws {
        let story = Comment(rawValue: "\(dialect) \(change) \(theirs) \(answer) \(decision)")
        try await SyncWorld.with(dialect) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            if change == .insert {
                // Whoever has the id already has it without our knowing.
                if theirs != .nothing {
                    try await phone.table.insert(["text": "theirs", "complete": false], id: "a")
                    _ = try await phone.context.push()
                }
                if theirs == .deletion {
                    try await phone.table.delete("a")
                    _ = try await phone.context.push()
                }
            } else {
                try await world.shareItem()
                switch theirs {
                case .nothing: break
                case .change: try await phone.table.update(Record(id: "a", ["text": "theirs"]))
                case .deletion: try await phone.table.delete("a")
                }
                _ = try await phone.context.push()
            }
            switch change {
            case .update: try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            case .delete: try await laptop.table.delete("a")
            case .updateThenDelete:
                try await laptop.table.update(Record(id: "a", ["text": "mine"]))
                try await laptop.table.delete("a")
            case .insert: try await laptop.table.insert(["text": "mine", "complete": false], id: "a")
            }
            switch answer {
            case .none: break
            case .proper: await push(laptop)
            case .refusal: world.emulator.inject(.respond(EmulatorResponse(400), times: 1) { $0.method != "GET" })
            case .failure: world.emulator.inject(.respond(EmulatorResponse(500), times: 1) { $0.method != "GET" })
            case .failureAfterwards:
                world.emulator.inject(.applyThenRespond(EmulatorResponse(500), times: 1) { $0.method != "GET" })
            case .answerLost: laptop.server.intercept(.answerLost)
            case .requestLost: laptop.server.intercept(.requestLost)
            }
            if answer != .none, answer != .proper { await push(laptop) }
            let wasTaken = try await laptop.context.operations().isEmpty
            try await decide(decision, laptop)
            let before = try await laptop.context.operations().first
            // Whoever is asked from here on takes the server's.
            laptop.table.conflictPolicy = .serverWins
            laptop.server.clearInterceptions()
            for _ in 0..<4 {
                await push(laptop)
                try await laptop.pull()
                for error in try await laptop.context.operationErrors() {
                    try await laptop.context.resolve(error, with: .takeServer)
                }
            }
            #expect(try await laptop.context.status().pending == 0, story)
            #expect(try await laptop.context.status().failed == 0, story)
            let server = world.onServer()
            if decision != .keepLocal || wasTaken {
                try await laptop.table.pull(options: .init(reconciles: true))
                #expect(try await laptop.texts() == server, story)
            }
            // A change based on an older row succeeds for nobody who has not seen the newer one.
            let hasSeen = decision == .deleteInstead || (decision == .edit && before?.baseVersion != nil)
            switch theirs {
            case .change where !hasSeen: #expect(server == ["a": "theirs"], story)
            // A deletion of one's own that may have arrived cannot be told from theirs: taking it back brings the row back.
            case .deletion
            where change != .update && change != .insert && ![.none, .proper, .refusal].contains(answer):
                break
            case .deletion where !hasSeen: #expect(server == [:] || (wasTaken && change == .insert), story)
            case .nothing where change != .insert && [.revert, .discard].contains(decision) && !wasTaken:
                #expect(server == ["a": "milk"], story)
            case .nothing where change == .insert && [.revert, .discard].contains(decision) && !wasTaken:
                #expect(server == [:], story)
            default: break
            }
        }
    }

    /// Whatever comes of it is in the queue.
    private func push(_ device: SyncWorld.Device) async {
        do {
            _ = try await device.context.push()
        } catch is SyncError {
            // The network.
        } catch {
            Issue.record(error)
        }
    }

    private func decide(_ decision: Decision, _ device: SyncWorld.Device) async throws {
        let (context, table) = (device.context, device.table)
        let error = try await context.operationErrors().first
        let operation = try await context.operations().first
        do {
            switch decision {
            case .revert: try await table.revert("a")
            case .undoDelete: try await table.undoDelete("a")
            case .discard: if let operation { try await context.discard(operation) }
            case .discardError: if let error { try await context.resolve(error, with: .discard) }
            case .takeServer: if let error { try await context.resolve(error, with: .takeServer) }
            case .keepLocal: if let error { try await context.resolve(error, with: .keepLocal()) }
            case .deleteInstead: if let error { try await context.resolve(error, with: .deleteInstead) }
            case .edit: try await table.update(Record(id: "a", ["text": "mine again"]))
            case .forcePurge: try await context.forcePurge(table.query.filtered(by: Column("text") != "milk"))
            }
        } catch let error as SyncError where error.code == .invalidAction {
            // There is nothing to take back, or nothing to edit.
        }
    }
}
