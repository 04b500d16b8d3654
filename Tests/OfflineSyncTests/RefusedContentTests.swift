import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

/// A server that refuses a content refuses it in a row that is made as a deleted one as well.
@Suite("An insert without an answer, the content of which is refused from then on")
struct RefusedContentTests {
    enum Ending: CaseIterable { case delete, revert, discard, takeServer, deleteInstead }

    /// Inserts a row that is refused, and another one that waits for it, on a server that validates, and lends both.
    private func refused(
        _ dialect: DatasyncDialect,
        _ first: InterceptedServer.Interception,
        with status: Int,
        _ body: (SyncWorld) async throws -> Void
    ) async throws {
        let validates = Switch()
        let standIn = SyncWorld.StandIn { request, emulator in
            guard validates.isOn, request.method == "POST",
                String(decoding: request.body, as: UTF8.self).contains("bad")
            else { return try await emulator.handle(request) }
            return .json(status, ["error": "not valid"])
        }
        try await SyncWorld.with(dialect, answeringLaptop: standIn) { world in
            let laptop = world.laptop
            try await laptop.context.write { transaction in
                try transaction.insert(["text": "bad"], id: "x", into: laptop.table)
                try transaction.insert(["text": "good"], id: "y", into: laptop.table)
            }
            laptop.server.intercept(first)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            validates.isOn = true
            #expect(try await laptop.context.push().failures.count == 1)
            try await body(world)
        }
    }

    private func end(_ laptop: SyncWorld.Device, _ ending: Ending) async throws {
        switch ending {
        case .delete: try await laptop.table.delete("x")
        case .revert: try await laptop.table.revert("x")
        case .discard: try await laptop.context.resolve(try await laptop.onlyError(), with: .discard)
        case .takeServer: try await laptop.context.resolve(try await laptop.onlyError(), with: .takeServer)
        case .deleteInstead: try await laptop.context.resolve(try await laptop.onlyError(), with: .deleteInstead)
        }
    }

    private func expectEnd(_ ending: Ending, in world: SyncWorld) async throws {
        try await end(world.laptop, ending)
        #expect(try await world.laptop.context.push().notTaken.isEmpty)
        #expect(try await world.laptop.context.operations().isEmpty)
        #expect(try await world.laptop.context.operationErrors().isEmpty)
        #expect(world.onServer() == ["y": "good"])
        #expect(try await world.laptop.texts() == ["y": "good"])
    }

    @Test(
        "ends with the next push, however it is given up, and what waited behind it is sent",
        arguments: DatasyncDialect.allCases,
        Ending.allCases
    )
    func ended(_ dialect: DatasyncDialect, _ ending: Ending) async throws {
        for status in [400, 422] {
            try await refused(dialect, .requestLost, with: status) { world in
                try await expectEnd(ending, in: world)
            }
        }
    }

    @Test(
        "goes from the server when it had arrived before",
        arguments: DatasyncDialect.allCases,
        Ending.allCases
    )
    func arrived(_ dialect: DatasyncDialect, _ ending: Ending) async throws {
        for status in [400, 422] {
            try await refused(dialect, .answerLost, with: status) { world in
                try await expectEnd(ending, in: world)
            }
        }
    }
}
