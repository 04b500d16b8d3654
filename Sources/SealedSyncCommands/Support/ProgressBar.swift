internal import Foundation
internal import SealedSync
internal import Synchronization

/// A line on standard error that shows how far long work has come: on a terminal only, from the second second on, drawn
/// ten times a second at most, and gone when the work ends.
final class ProgressBar: Sendable {
    private struct State {
        var lastDrawing: ContinuousClock.Instant?
        var isEnded = false
    }

    private let begin: ContinuousClock.Instant
    private let now: @Sendable () -> ContinuousClock.Instant
    private let width: @Sendable () -> Int
    private let output: (@Sendable (String) -> Void)?
    private let state = Mutex(State())

    /// A bar on standard error, which draws nothing when that is not a terminal.
    convenience init() {
        let output: @Sendable (String) -> Void = { Console.writeError($0, terminator: "") }
        self.init(
            now: { ContinuousClock.now },
            width: { Terminal.width },
            output: Terminal.isStandardErrorTerminal ? output : nil
        )
    }

    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        width: @escaping @Sendable () -> Int,
        output: (@Sendable (String) -> Void)?
    ) {
        begin = now()
        self.now = now
        self.width = width
        self.output = output
    }

    /// Draws the bar when it is time.
    func show(_ progress: StoreProgress) {
        show(progress.phase.rawValue, progress.completed, of: progress.total)
    }

    /// Draws the bar of a pull when it is time.
    func show(_ progress: SyncProgress) { show("pulling", Int64(progress.progressEstimate * 1_000), of: 1_000) }

    /// Draws the bar of files that are encrypted anew when it is time.
    func show(files completed: Int, of total: Int) { show("encrypting files", Int64(completed), of: Int64(total)) }

    private func show(_ text: String, _ completed: Int64, of total: Int64) {
        guard let output else { return }
        let now = now()
        state.withLock { state in
            guard !state.isEnded, now - begin >= .seconds(1) else { return }
            if let last = state.lastDrawing, now - last < .milliseconds(100) { return }
            state.lastDrawing = now
            output("\r" + Self.line(text, completed, of: total, width: width()))
        }
    }

    /// Clears the line.
    func end() {
        guard let output else { return }
        state.withLock { state in
            if state.lastDrawing != nil, !state.isEnded { output("\r\u{1B}[K") }
            state.isEnded = true
        }
    }

    /// The line, one column narrower than the terminal: in the last column the cursor may jump to the next line.
    static func line(_ progress: StoreProgress, width: Int) -> String {
        line(progress.phase.rawValue, progress.completed, of: progress.total, width: width)
    }

    private static func line(_ text: String, _ done: Int64, of all: Int64, width: Int) -> String {
        let total = max(all, 1)
        let completed = min(max(done, 0), total)
        let percent = "\(completed * 100 / total)%"
        let columns = max(width, 20) - 1
        let head = "\(text) ["
        let tail = "] " + String(repeating: " ", count: 4 - percent.count) + percent
        let room = columns - head.count - tail.count
        guard room >= 5 else { return String("\(text) \(percent)".prefix(columns)) }
        let filled = Int(Double(room) * Double(completed) / Double(total))
        return head + String(repeating: "#", count: filled) + String(repeating: ".", count: room - filled) + tail
    }
}
