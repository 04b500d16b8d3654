import DatasyncEmulator
import OfflineSync
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

/// Reconciling pulls begin anew each time: what is cut has got nowhere.
@Suite("Pulls of a sync that has less time than they need", .timeLimit(.minutes(1)))
struct TimedPullTests {
    private let emulator = SessionDevice.emulator()
    private let reconciling = PullOptions(reconciles: true)
    private let preceding = PullOptions(order: .pullFirst, reconciles: true)

    init() throws {
        try emulator.seed([["id": "t", "text": "x"]], in: "TodoItem")
        try emulator.seed([["id": "n", "text": "note"]], in: "Note")
    }

    /// A device over a line on which nothing but what a test asks for is under way.
    private func device(_ pulls: (SessionDevice) throws -> [any SyncSource]) async throws -> SessionDevice {
        let device = try SessionDevice(emulator)
        device.line.set(.unreachable)
        let options = SessionOptions(backoff: Backoff(first: .seconds(86_400), longest: .seconds(86_400)))
        device.session.start(keeping: try pulls(device), options: options)
        await device.backsOff()
        device.session.running.withLock { $0.nextAsked = 0 }
        return device
    }

    /// Has a table take all the time and more; the others are answered.
    private func slow(_ table: String, _ device: SessionDevice, _ others: Line.Fate = .answered) {
        let clock = device.clock
        device.line.set { request in
            guard request.path.contains(table) else { return others }
            clock.advance(by: .seconds(25))
            return .held
        }
    }

    /// Has every request take some seconds; those in which the time of a sync is over come to nothing.
    private func slow(by seconds: Int, _ device: SessionDevice) {
        let clock = device.clock
        let start = Mutex(clock.now)
        device.line.set { _ in
            clock.advance(by: .seconds(seconds))
            return start.withLock { start in
                guard start.duration(to: clock.now) >= .seconds(25) else { return .answered }
                start = clock.now
                return .held
            }
        }
    }

    /// A sync that is not complete.
    private func sync(_ device: SessionDevice) async throws {
        #expect(try await !device.session.sync(within: .seconds(25)).isComplete)
    }

    private func hasNote(_ device: SessionDevice) async throws -> Bool {
        try await device.store.read(table: "Note", itemID: "n") != nil
    }

    @Test("begin the next time with one that was cut because others had the time")
    func cutBehindOthers() async throws {
        let device = try await device { device in
            try [device.table, device.context.table("Note")].map { SessionPull($0, options: reconciling) }
        }
        slow(by: 15, device)
        var first: [String] = []
        for _ in 0..<2 {
            let before = device.line.requests.count
            try await sync(device)
            first.append(device.line.requests[before].contains("Note") ? "Note" : "TodoItem")
        }
        #expect(first == ["TodoItem", "Note"])
        await device.session.close()
    }

    @Test("let what waits be sent each time, where one that precedes that is quick and another one is too long")
    func quickPreceding() async throws {
        let device = try await device { device in
            [
                SessionPull(device.table, options: preceding),
                SessionPull(try device.context.table("Note"), options: reconciling),
            ]
        }
        slow("Note", device)
        for id in ["a", "b", "c"] {
            try await device.add(id, id: id)
            try await sync(device)
            #expect(emulator.texts().contains(id))
        }
        await device.session.close()
    }

    @Test("begin with a long one that one before the push has left too little time")
    func longBehindPreceding() async throws {
        let device = try await device { device in
            [
                SessionPull(try device.context.table("Note"), options: reconciling),
                SessionPull(device.table, options: preceding),
            ]
        }
        slow(by: 20, device)
        try await sync(device)
        #expect(try await !hasNote(device))
        try await sync(device)
        #expect(try await hasNote(device))
        await device.session.close()
    }

    @Test("come to the last of three, of which one precedes the push and another one is too long as well")
    func behindTwoTooLong() async throws {
        let device = try await device { device in
            [
                SessionPull(device.table, queryID: "first", options: preceding),
                SessionPull(device.table, queryID: "second", options: PullOptions(order: .pullOnly, reconciles: true)),
                SessionPull(try device.context.table("Note")),
            ]
        }
        slow("TodoItem", device)
        var rounds = 0
        while try await !hasNote(device), rounds < 6 {
            try await sync(device)
            rounds += 1
        }
        #expect(rounds < 6)
        await device.session.close()
    }

    @Test("let what waits be sent though one fails that is made before for the sake of another one")
    func failingOthers() async throws {
        let device = try await device { device in
            [SessionPull(device.table, options: preceding), SessionPull(try device.context.table("Note"))]
        }
        slow("TodoItem", device, .status(404))
        try await sync(device)
        device.line.set { $0.path.contains("TodoItem") ? .answered : .status(404) }
        for id in ["a", "b"] {
            try await device.add(id, id: id)
            await #expect(throws: SyncError.self) { _ = try await device.session.sync(within: .seconds(25)) }
            #expect(emulator.texts().contains(id))
        }
        #expect(try await device.context.storedFirstPull() == nil)
        await device.session.close()
    }

    @Test("begin with the others when one that precedes the push took all the time")
    func precedingTooLong() async throws {
        let device = try await device { device in
            [SessionPull(device.table, options: preceding), SessionPull(try device.context.table("Note"))]
        }
        slow("TodoItem", device)
        try await sync(device)
        #expect(try await !hasNote(device))
        try await sync(device)
        #expect(try await hasNote(device))
        device.line.set(.answered)
        #expect(try await device.session.sync(within: .seconds(25)).isComplete)
        await device.session.close()
    }

    /// Pulls 1 and 3 of five precede the push.
    @Test(
        "are made in the order that the one before has left",
        arguments: [
            (0, false, [1, 3], [0, 2, 4]), (2, false, [3, 1], [2, 4, 0]), (-3, true, [3, 1], [2, 4, 0]),
            (-1, true, [1, 3], [0, 2, 4]), (5, false, [1, 3], [0, 2, 4]), (9, false, [1, 3], [0, 2, 4]),
            (-10, true, [1, 3], [0, 2, 4]), (.min, true, [1, 3], [0, 2, 4]), (.max, false, [1, 3], [0, 2, 4]),
        ] as [(Int, Bool, [Int], [Int])]
    )
    func course(_ beginning: Int, _ beginsWithOthers: Bool, _ preceding: [Int], _ others: [Int]) {
        let course = PullCourse(of: 5, from: beginning) { [1, 3].contains($0) }
        #expect(course.beginsWithOthers == beginsWithOthers)
        #expect(course.preceding == preceding && course.others == others)
        #expect(PullCourse(of: 0, from: beginning) { _ in true }.isEmpty)
    }

    @Test(
        "leave to the next sync where to begin",
        arguments: [
            (1, 1, false, -1), (1, 2, false, 1), (0, 1, false, 1), (2, 2, false, 2), (2, 2, true, -3), (4, 1, true, 5),
        ] as [(Int, Int, Bool, Int)]
    )
    func next(_ cut: Int, _ begun: Int, _ leavesLittleTime: Bool, _ beginning: Int) {
        var course = PullCourse(of: 5, from: 0) { [1, 3].contains($0) }
        for _ in 0..<begun { course.begins() }
        course.leavesLittleTime = leavesLittleTime
        #expect(course.beginning(behind: cut) == beginning)
    }
}
