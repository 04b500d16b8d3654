import DatasyncEmulator
import DatasyncHTTP
import Foundation
import OfflineSync
import SyncContract
import Testing

@Suite("Answers that are not the service's")
struct ForeignAnswerTests {
    /// What may stand in front of a service, and answer in its place.
    enum InFront: CaseIterable {
        case badGateway, gatewayTimeout, captivePortal, cloudGateway, redirect, loginPage, errorPage, plainText,
            accepted

        var answer: EmulatorResponse {
            switch self {
            case .badGateway: .html(502, "<h1>Bad gateway</h1>")
            case .gatewayTimeout: EmulatorResponse(504)
            case .captivePortal: EmulatorResponse(511)
            case .cloudGateway: .html(522, "<h1>Connection timed out</h1>")
            case .redirect: EmulatorResponse(307, headers: ["Location": "https://login.example.com/?secret"])
            case .loginPage: .html(200, "<form>Sign in</form>")
            case .errorPage: .html(404, "<h1>There is nothing here</h1>")
            case .plainText: EmulatorResponse(200, headers: ["Content-Type": "text/plain"], body: Data("OK".utf8))
            case .accepted: EmulatorResponse(202)
            }
        }
    }

    @Test(
        "a push stops at the first one, with the queue as it was, and the next one sends everything",
        arguments: DatasyncDialect.allCases,
        InFront.allCases
    )
    func push(_ dialect: DatasyncDialect, _ inFront: InFront) async throws {
        try await SyncWorld.with(dialect) { world in
            for id in ["a", "b"] { try await world.shareItem(id) }
            let laptop = world.laptop
            try await laptop.table.insert(["text": "bread"], id: "c")
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try await laptop.table.delete("b")
            let waiting = try await laptop.context.operations().map(\.itemID)
            world.emulator.clearRequests()
            world.emulator.inject(.respond(inFront.answer) { $0.method != "GET" })
            let code = try await syncErrorCode { _ = try await laptop.context.push() }
            #expect(code == .pushAbortedNetwork)
            #expect(world.emulator.requests.filter { $0.request.method != "GET" }.count == 1)
            #expect(try await laptop.context.operations().map(\.itemID) == waiting)
            #expect(try await laptop.context.operationErrors().isEmpty)

            let report = try await laptop.context.push()
            #expect(report.pushed == 3 && report.conflicts.isEmpty && report.failures.isEmpty)
            #expect(world.onServer() == ["a": "mine", "c": "bread"])
        }
    }

    /// A service that hides its errors behind pages says so of conflicts, too: whether there is one is looked up.
    @Test(
        "a page with the status of a conflict stops a push with the queue as it was, where the row explains none",
        arguments: DatasyncDialect.allCases,
        [409, 412]
    )
    func pageOfConflict(_ dialect: DatasyncDialect, _ status: Int) async throws {
        for lookUpIsRefused in [false, true] {
            for change in ["insert", "update", "delete"] {
                try await SyncWorld.with(dialect) { world in
                    try await world.shareItem("a")
                    let laptop = world.laptop
                    switch change {
                    case "insert": try await laptop.table.insert(["text": "bread"], id: "c")
                    case "update": try await laptop.table.update(Record(id: "a", ["text": "mine"]))
                    default: try await laptop.table.delete("a")
                    }
                    let waiting = try await laptop.context.operations()
                    world.emulator.inject(.respond(.html(status, "<h1>No</h1>")) { $0.method != "GET" })
                    if lookUpIsRefused {
                        world.emulator.inject(.respond(.html(403, "<h1>No</h1>")) { $0.method == "GET" })
                    }
                    let code = try await syncErrorCode { _ = try await laptop.context.push() }
                    #expect(code == .pushAbortedNetwork, "\(change)")
                    #expect(try await laptop.context.operations().map(\.state) == waiting.map(\.state))
                    #expect(try await laptop.context.operationErrors().isEmpty)

                    let report = try await laptop.context.push()
                    #expect(report.pushed == 1 && report.conflicts.isEmpty && report.failures.isEmpty, "\(change)")
                }
            }
        }
    }

    @Test(
        "a page in the place of a conflict is one, where the row shows it",
        arguments: DatasyncDialect.allCases,
        [409, 412]
    )
    func pageOfTrueConflict(_ dialect: DatasyncDialect, _ status: Int) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem("a")
            try await world.laptop.table.update(Record(id: "a", ["text": "mine"]))
            try await world.phone.pull()
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            world.emulator.inject(.respond(.html(status, "<h1>No</h1>")) { $0.method != "GET" })
            #expect(try await world.laptop.context.push().conflicts.count == 1)
            #expect(try await world.laptop.onlyError().serverItem?["text"] == "theirs")
        }
    }

    @Test("a pull stops, and the next one goes on", arguments: DatasyncDialect.allCases, InFront.allCases)
    func pull(_ dialect: DatasyncDialect, _ inFront: InFront) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.phone.table.insert(["text": "milk"], id: "a")
            _ = try await world.phone.context.push()
            world.emulator.inject(.respond(inFront.answer))
            #expect(try await syncErrorCode { try await world.laptop.pull() } == .pullAborted)
            try await world.laptop.pull()
            #expect(try await world.laptop.texts() == ["a": "milk"])
        }
    }
}
