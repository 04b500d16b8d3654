internal import Foundation
internal import Synchronization

/// One line on standard error that says how far a run is; nothing when that is not a terminal.
package final class ProgressMeter: Sendable {
    private let count: Int
    private let isShown = isatty(STDERR_FILENO) == 1
    private let done = Mutex(0)

    package init(count: Int) { self.count = count }

    package func advance(_ result: RuleResult) {
        let number = done.withLock { done in
            done += 1
            return done
        }
        write("\r\u{1B}[K\(number)/\(count) \(result.rule.id)")
    }

    package func clear() { write("\r\u{1B}[K") }

    private func write(_ text: String) {
        if isShown { FileHandle.standardError.write(Data(text.utf8)) }
    }
}
