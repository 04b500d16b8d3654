import Synchronization
import Testing

@testable import OfflineSync

private final class Tally: Sendable {
    private struct Counts {
        var inside = 0
        var most = 0
        var runs = 0
    }

    private let counts = Mutex(Counts())

    var most: Int { counts.withLock { $0.most } }
    var runs: Int { counts.withLock { $0.runs } }

    func enter() {
        counts.withLock {
            $0.inside += 1
            $0.most = max($0.most, $0.inside)
        }
    }

    func leave() {
        counts.withLock {
            $0.inside -= 1
            $0.runs += 1
        }
    }
}

@Suite("One push, pull or purge at a time")
struct SerialGateTests {
    @Test("bodies do not overlap and all run")
    func exclusive() async throws {
        let gate = SerialGate()
        let tally = Tally()
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    try await gate.withTurn {
                        tally.enter()
                        await Task.yield()
                        tally.leave()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(tally.most == 1)
        #expect(tally.runs == 100)
    }

    @Test("who has a turn of a later gate is refused: it might wait for somebody who waits for it")
    func crosswise() async throws {
        let later = SerialGate()
        let gate = SerialGate(before: later)
        let code = try await syncErrorCode { try await later.withTurn { try await gate.withTurn {} } }
        #expect(code == .invalidAction)
        try await gate.withTurn { try await later.withTurn {} }
    }

    @Test("a task that is cancelled in the line leaves it, and the next one gets in")
    func cancellation() async throws {
        let gate = SerialGate()
        let (entered, enteredContinuation) = AsyncStream.makeStream(of: Void.self)
        let (release, releaseContinuation) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await gate.withTurn {
                enteredContinuation.yield()
                for await _ in release { break }
            }
        }
        for await _ in entered { break }
        let second = Task { try await gate.withTurn { Issue.record("a cancelled task got in") } }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        let third = Task { try await gate.withTurn { true } }
        releaseContinuation.yield()
        try await first.value
        #expect(try await third.value)
    }

    @Test("an error in the body lets the next one in")
    func failure() async throws {
        struct Failure: Error {}
        let gate = SerialGate()
        await #expect(throws: Failure.self) { try await gate.withTurn { throw Failure() } }
        #expect(try await gate.withTurn { true })
    }
}
