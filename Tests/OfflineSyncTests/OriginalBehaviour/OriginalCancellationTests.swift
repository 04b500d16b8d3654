import DatasyncEmulator
import OfflineSync
import SyncContract
import Synchronization
import Testing

/// The original discarded an answer that came after the cancellation, although the server had done what was asked. Here
/// what was answered is recorded, so that it is not sent again.
@Suite("As in the original: cancelling")
struct OriginalCancellationTests {
    typealias TodoItem = OriginalWorld.TodoItem

    enum Moment: CaseIterable, Sendable {
        case beforePushRequest, whileProcessingPushAnswer, beforePullRequest, whileProcessingPullAnswer
        case rightAfterCall, afterCompletion
    }

    /// A task that a request cancels, which may come before the task is known.
    private final class Cancellation: Sendable {
        private let state = Mutex<(task: Task<Void, any Error>?, isCancelled: Bool)>((nil, false))

        func set(_ task: Task<Void, any Error>) {
            let isCancelled = state.withLock { state in
                state.task = task
                return state.isCancelled
            }
            if isCancelled { task.cancel() }
        }

        func cancel() {
            let task = state.withLock { state in
                state.isCancelled = true
                return state.task
            }
            task?.cancel()
        }
    }

    private let world: OriginalWorld

    init() throws { world = try OriginalWorld() }

    /// Runs a call that is cancelled at a moment, to its end.
    private func run(cancelledAt moment: Moment, _ call: @escaping @Sendable () async throws -> Void) async {
        let cancellation = Cancellation()
        let (pushes, pulls) = (["POST", "PATCH"], ["GET"])
        world.wire.before { request in
            switch moment {
            case .beforePushRequest where pushes.contains(request.method): cancellation.cancel()
            case .beforePullRequest where pulls.contains(request.method): cancellation.cancel()
            default: break
            }
        }
        world.wire.after { request in
            switch moment {
            case .whileProcessingPushAnswer where pushes.contains(request.method): cancellation.cancel()
            case .whileProcessingPullAnswer where pulls.contains(request.method): cancellation.cancel()
            default: break
            }
        }
        let task = Task { try await call() }
        if moment == .rightAfterCall { task.cancel() }
        cancellation.set(task)
        // How it ends is what the rest of the test finds out.
        _ = await task.result
        if moment == .afterCompletion { cancellation.cancel() }
        world.wire.clearHooks()
    }

    @Test(
        "a push that is cancelled ends, and the next one delivers everything once",
        arguments: [200, 500],
        [Moment.beforePushRequest, .whileProcessingPushAnswer, .rightAfterCall, .afterCompletion]
    )
    func push(_ status: Int, _ moment: Moment) async throws {
        let (context, todos) = (world.context, world.todos)
        try await todos.insert(TodoItem(id: "a", text: "a"))
        if status != 200 { world.emulator.inject(.respond(EmulatorResponse(status)) { $0.method == "POST" }) }
        await run(cancelledAt: moment) { _ = try await context.push() }
        world.emulator.clearFaults()
        try await todos.insert(TodoItem(id: "b", text: "b"))
        #expect(try await context.push().notTaken.isEmpty)
        #expect(world.onServer == ["a": "a", "b": "b"])
        #expect(try await world.kinds().isEmpty)
    }

    @Test(
        "a pull that is cancelled ends, with its push, and the next one brings everything",
        arguments: [(200, 200), (200, 500), (500, 200), (500, 500)],
        Moment.allCases
    )
    func pull(_ statuses: (push: Int, pull: Int), _ moment: Moment) async throws {
        let (emulator, todos) = (world.emulator, world.todos)
        try await world.make("theirs", "others")
        try await todos.insert(TodoItem(id: "a", text: "a"))
        if statuses.push != 200 { emulator.inject(.respond(EmulatorResponse(500)) { $0.method == "POST" }) }
        if statuses.pull != 200 { emulator.inject(.respond(EmulatorResponse(500), times: 9) { $0.method == "GET" }) }
        await run(cancelledAt: moment) { try await todos.pull() }
        emulator.clearFaults()
        #expect(try await todos.pull().notTaken.isEmpty)
        #expect(try await world.texts() == ["a": "a", "theirs": "theirs", "others": "others"])
        #expect(try await world.texts() == world.onServer)
        #expect(try await world.kinds().isEmpty)
    }

    @Test("an answer that comes to a cancelled push is recorded")
    func recorded() async throws {
        let (context, todos) = (world.context, world.todos)
        try await todos.insert(TodoItem(id: "a", text: "a"))
        await run(cancelledAt: .whileProcessingPushAnswer) { _ = try await context.push() }
        let sent = world.wire.lines.count
        _ = try await context.push()
        #expect(world.wire.lines.dropFirst(sent).allSatisfy { !$0.hasPrefix("POST") }, "not sent again")
        #expect(try await world.kinds().isEmpty)
    }

    @Test("a cancelled call throws CancellationError")
    func error() async throws {
        let (context, todos) = (world.context, world.todos)
        try await todos.insert(TodoItem(id: "a", text: "a"))
        for call in [
            { _ = try await context.push() }, { _ = try await todos.pull() }, { try await todos.purge() },
        ] as [@Sendable () async throws -> Void] {
            let task = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                try await call()
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(try await world.kinds() == [.insert])
    }
}
