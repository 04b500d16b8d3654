/// Tells how far a phase has come, in steps that somebody could see.
final class ProgressMeter {
    private let phase: StoreProgress.Phase
    private let total: Int64
    private let handler: StoreProgressHandler?
    private var told: Int64 = -1

    init(_ phase: StoreProgress.Phase, total: Int64, _ handler: StoreProgressHandler?) {
        self.phase = phase
        self.total = total
        self.handler = handler
        tell(0)
    }

    /// Takes note of how much is done.
    func advance(to completed: Int64) {
        let completed = min(completed, total)
        if completed - told > total / 500 { tell(completed) }
    }

    /// Says that the phase is over.
    func finish() {
        if told < total { tell(total) }
    }

    private func tell(_ completed: Int64) {
        told = completed
        handler?(StoreProgress(phase: phase, completed: completed, total: total))
    }
}
