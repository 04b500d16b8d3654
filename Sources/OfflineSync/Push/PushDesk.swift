internal import Synchronization

/// Where the task that decides what is sent leaves its plan, and what it has prepared, while it waits for those that send.
///
/// Whoever has sent a change goes on with the next prepared one by itself, while as many send as may: to give the turn back,
/// and to have another task made for the next change, takes three pieces of tasks for each change instead of one. While the
/// task that decides looks for what follows, in the store, the desk is empty, and the turn is left to it.
final class PushDesk: Sendable {
    /// What it takes to decide who is next.
    struct Papers: Sendable {
        var plan: PushPlan
        var window: PushWindow
        /// How many send.
        var running = 0
    }

    private let papers = Mutex<Papers?>(nil)

    /// Leaves the papers to others. Who does keeps no copy, or else the next change of theirs would copy them.
    func leave(_ left: consuming Papers) {
        papers.withLock { [left = consume left] papers in papers = left }
    }

    /// Takes the papers back, which nobody else does.
    func takeBack() -> Papers {
        guard let left = papers.withLock({ $0.take() }) else { preconditionFailure("they were left before") }
        return left
    }

    /// Works with the papers while they are left to others; nil when they are not.
    func withPapers<Value: Sendable>(_ body: (inout Papers) -> Value?) -> Value? {
        papers.withLock { papers in
            guard var left = papers.take() else { return nil }
            defer { papers = left }
            return body(&left)
        }
    }
}
