import DatasyncEmulator
import DatasyncHTTP
import Foundation
import OfflineSync
import SyncContract
import Synchronization
import Testing

private struct Cut: Error {}

/// Some servers change no tombstone: it is shown, with the content it was deleted with, and gets its content then. What loses
/// one of these requests leaves a row with its old content.
@Suite("Bringing a row back on a server that shows it as it was first, interrupted")
struct InterruptedRestoreOfHiddenTests {
    /// Such servers.
    enum Server: CaseIterable {
        /// Version 4 of the Node server: the tombstone is shown, and gets its content.
        case node4
        /// The predecessor in protocol 3, with a row of which it does not take every column in a PATCH.
        case predecessor

        /// The most requests that write, one of which is interrupted.
        var requests: ClosedRange<Int> {
            switch self {
            // The insert, what is not found, showing it, and the content.
            case .node4: 1...4
            // The insert, a PUT and two PATCHes that are refused, these once more, showing it, and the content.
            case .predecessor: 1...9
            }
        }

        /// The request that shows the row as it was.
        var showing: Int {
            switch self {
            case .node4: 3
            case .predecessor: 8
            }
        }

        fileprivate var dialect: DatasyncDialect { self == .node4 ? .azureMobileApps : .datasync }
        fileprivate var edition: EmulatorConfiguration.Edition { self == .node4 ? .node4 : .predecessor }

        fileprivate func answer(_ request: EmulatorRequest, _ emulator: Emulator) async throws -> EmulatorResponse {
            if self == .predecessor, request.method == "PATCH", request.body != Data(#"{"deleted":false}"#.utf8) {
                return EmulatorResponse(500)
            }
            return try await emulator.handle(request)
        }
    }

    /// What becomes of a request.
    enum Interruption: CaseIterable {
        case lost
        case answerLost
        case cancelled
        case answerCancelled
        case signedOut
        case refused
        case tooLarge
    }

    /// The laptop brings back a row that it has deleted, and one of the requests that write is interrupted.
    private func interrupting(
        _ server: Server,
        _ number: Int,
        _ interruption: Interruption,
        _ body: (SyncWorld, SyncWorld.Device) async throws -> Void
    ) async throws {
        let (isOn, count) = (Switch(), Counter())
        try await SyncWorld.with(
            server.dialect,
            edition: server.edition,
            answeringLaptop: SyncWorld.StandIn { request, emulator in
                guard isOn.isOn, request.method != "GET", count.next() == number else {
                    return try await server.answer(request, emulator)
                }
                switch interruption {
                case .lost: throw Cut()
                case .answerLost:
                    _ = try await server.answer(request, emulator)
                    throw Cut()
                case .cancelled: throw CancellationError()
                case .answerCancelled:
                    _ = try await server.answer(request, emulator)
                    throw CancellationError()
                case .signedOut: return EmulatorResponse(401)
                case .refused: return EmulatorResponse(400)
                case .tooLarge: return EmulatorResponse(413)
                }
            }
        ) { world in
            let (context, table) = (world.laptop.context, world.laptop.table)
            try await table.insert(["text": "old", "complete": false], id: "a")
            _ = try await context.push()
            try await table.delete("a")
            _ = try await context.push()
            try await table.insert(["text": "new", "complete": false], id: "a")
            isOn.isOn = true
            do {
                let report = try await context.push()
                #expect(report.conflicts.isEmpty)
            } catch is SyncError {
            } catch is CancellationError {
            }
            #expect(count.value >= number, "request \(number) was interrupted")
            isOn.isOn = false
            try await body(world, world.laptop)
        }
    }

    private static let steps = Server.allCases.flatMap { server in server.requests.map { Step(server, $0) } }

    struct Step: CustomStringConvertible, Sendable {
        var server: Server
        var number: Int
        var description: String { "\(server), request \(number)" }

        init(_ server: Server, _ number: Int) { (self.server, self.number) = (server, number) }
    }

    @Test("meets no conflict with itself, also when it is edited then", arguments: steps, Interruption.allCases)
    func noConflict(_ step: Step, _ interruption: Interruption) async throws {
        // What was refused waits for that.
        for edits in [.refused, .tooLarge].contains(interruption) ? [true] : [true, false] {
            try await interrupting(step.server, step.number, interruption) { world, laptop in
                let text = edits ? "corrected" : "new"
                if edits { try await laptop.table.update(Record(id: "a", ["text": .string(text)])) }
                let report = try await laptop.context.push()
                #expect(report.conflicts.isEmpty && report.failures.isEmpty)
                #expect(try await laptop.context.operations().isEmpty)
                #expect(world.onServer() == ["a": text])
                #expect(try await laptop.texts() == ["a": text])
            }
        }
    }

    @Test("and then deleted, leaves the row deleted for everybody", arguments: steps, Interruption.allCases)
    func deleted(_ step: Step, _ interruption: Interruption) async throws {
        try await interrupting(step.server, step.number, interruption) { world, laptop in
            try await laptop.table.delete("a")
            let report = try await laptop.context.push()
            #expect(report.conflicts.isEmpty && report.failures.isEmpty)
            #expect(try await laptop.context.operations().isEmpty)
            #expect(world.onServer().isEmpty)
            try await world.phone.pull()
            #expect(try await world.phone.texts().isEmpty)
        }
    }

    @Test(
        "is in conflict with what somebody else has written to the row meanwhile",
        arguments: Server.allCases,
        [Interruption.lost, .answerLost, .cancelled, .answerCancelled]
    )
    func others(_ server: Server, _ interruption: Interruption) async throws {
        let isAnswer = interruption == .answerLost || interruption == .answerCancelled
        try await interrupting(server, isAnswer ? server.showing : server.showing + 1, interruption) { world, laptop in
            try await world.phone.pull()
            try #require(try await world.phone.texts() == ["a": "old"])
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            #expect(try await laptop.context.push().conflicts.count == 1)
            #expect(try await laptop.onlyError().serverItem?["text"] == "theirs")
            #expect(world.onServer() == ["a": "theirs"])
        }
    }
}

private final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
