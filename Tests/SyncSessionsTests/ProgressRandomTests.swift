import OfflineSync
import ReferenceStore
import SeededNumbers
import SyncContract
import Testing

@testable import SyncSessions

/// Random work of pulls and pushes, and those who follow it: whatever comes, progress is between 0 and 1, and of the work of
/// now it never falls, and is 1 at the end only.
@Suite("The progress of a session under random events")
struct ProgressRandomTests {
    private struct Follower {
        var watcher: ProgressWatcher
        let stream: AsyncStream<SyncProgress>
        var values: [SyncProgress] = []
    }

    private func follower(
        _ direction: SyncDirection,
        _ mode: SyncSession.ProgressMode,
        _ cycle: Int,
        _ changes: OutstandingChanges?
    ) -> Follower {
        let (stream, continuation) = AsyncStream.makeStream(of: SyncProgress.self)
        var watcher = ProgressWatcher(direction: direction, mode: mode, continuation: continuation, cycle: cycle)
        watcher.changes = direction.contains(.upload) ? changes : nil
        return Follower(watcher: watcher, stream: stream)
    }

    @Test("never exceeds 1, and of the work of now never falls")
    func random() async throws {
        var generator = SeededGenerator(seed: SeededGenerator.seed())
        for _ in 0..<SeededGenerator.rounds(40, all: 1_000) {
            let context = SyncContext(store: MemoryStore(try StoreSchema([todoTable])))
            let table = try context.table("TodoItem")
            for _ in 0..<Int.random(in: 0...4, using: &generator) { try await table.insert(["text": "x"]) }
            var pulling = DownloadProgress(pulls: Int.random(in: 1...3, using: &generator))
            var (cycle, left) = (0, 3)
            var followers: [Follower] = []
            for _ in 0..<60 {
                switch Int.random(in: 0..<8, using: &generator) {
                case 0:
                    let directions: [SyncDirection] = [.upload, .download, .both]
                    let direction = directions.randomElement(using: &generator) ?? .both
                    let mode: SyncSession.ProgressMode =
                        Bool.random(using: &generator) ? .forCurrentlyOutstandingWork : .reportIndefinitely
                    followers.append(follower(direction, mode, cycle, try await context.outstandingChanges()))
                case 1:
                    cycle += 1
                    left = Int.random(in: 1...3, using: &generator)
                    pulling = DownloadProgress(pulls: left)
                case 2 where left > 0:
                    left -= 1
                    pulling.finish()
                case 3: try await table.insert(["text": "y"])
                case 4:
                    // As if it had been answered.
                    if let operation = try await context.operations().randomElement(using: &generator) {
                        try await context.discard(operation)
                    }
                default:
                    // What a server counts may rise and fall, and be less than what came.
                    let completed = Int.random(in: 0...20, using: &generator)
                    let total = Int.random(in: 0...20, using: &generator)
                    let estimate = Double(completed) / Double(max(1, total))
                    guard left > 0 else { continue }
                    pulling.report(.init(estimate: estimate, completed: completed, total: total, isExact: true))
                }
                for index in followers.indices {
                    _ = try await followers[index].watcher.changes?.review()
                    if followers[index].watcher.mode == .reportIndefinitely,
                        followers[index].watcher.changes != nil
                    {
                        followers[index].watcher.follow(try await context.outstandingChanges())
                    }
                    if let progress = followers[index].watcher.next(pulling.progress, cycle) {
                        followers[index].watcher.continuation.yield(progress)
                    }
                }
            }
            for var follower in followers {
                let isFinite = follower.watcher.mode == .forCurrentlyOutstandingWork
                if isFinite { follower.watcher.continuation.yield(follower.watcher.end) }
                follower.watcher.continuation.finish()
                for await value in follower.stream { follower.values.append(value) }
                let estimates = follower.values.map(\.progressEstimate)
                #expect(estimates.allSatisfy { (0...1).contains($0) })
                guard isFinite else { continue }
                #expect(zip(estimates, estimates.dropFirst()).allSatisfy { $0 <= $1 }, "\(estimates)")
                #expect(estimates.dropLast().allSatisfy { $0 < 1 } && estimates.last == 1)
            }
        }
    }
}
