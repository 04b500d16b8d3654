import Foundation
import SealedSync
import Synchronization
import Testing

@testable import SealedSyncCommands

@Suite("The progress bar")
struct ProgressBarTests {
    /// A clock that a test sets, and everything a bar draws.
    private final class Stage: Sendable {
        private let start = ContinuousClock.now
        private let elapsed = Mutex(Duration.zero)
        private let drawn = Mutex<[String]>([])

        func set(_ duration: Duration) { elapsed.withLock { $0 = duration } }

        var drawings: [String] { drawn.withLock { $0 } }

        func bar(width: Int = 80, isTerminal: Bool = true) -> ProgressBar {
            let output: @Sendable (String) -> Void = { text in self.drawn.withLock { $0.append(text) } }
            return ProgressBar(
                now: { self.start + self.elapsed.withLock { $0 } },
                width: { width },
                output: isTerminal ? output : nil
            )
        }
    }

    private func progress(_ completed: Int64, of total: Int64 = 1_000) -> StoreProgress {
        StoreProgress(phase: .verifying, completed: completed, total: total)
    }

    @Test("draws nothing in the first second, and nothing at the end of short work")
    func shortWork() {
        let stage = Stage()
        let bar = stage.bar()
        stage.set(.milliseconds(999))
        bar.show(progress(500))
        bar.end()
        #expect(stage.drawings.isEmpty)
    }

    @Test("draws ten times a second at most, and leaves an empty line")
    func longWork() {
        let stage = Stage()
        let bar = stage.bar()
        for millisecond in 1_000..<2_000 {
            stage.set(.milliseconds(millisecond))
            bar.show(progress(Int64(millisecond - 1_000)))
        }
        #expect(stage.drawings.count == 10)
        bar.end()
        #expect(stage.drawings.last == "\r\u{1B}[K")
        bar.show(progress(1_000))
        bar.end()
        #expect(stage.drawings.count == 11, "nothing after the end")
    }

    @Test("draws nothing where there is no terminal")
    func noTerminal() {
        let stage = Stage()
        let bar = stage.bar(isTerminal: false)
        stage.set(.seconds(10))
        bar.show(progress(500))
        bar.end()
        #expect(stage.drawings.isEmpty)
    }

    @Test("fits the terminal, whatever its width", arguments: [0, 1, 10, 20, 21, 30, 40, 80, 200])
    func width(_ width: Int) {
        for completed: Int64 in [-5, 0, 1, 499, 999, 1_000, 2_000] {
            let line = ProgressBar.line(progress(completed), width: width)
            #expect(line.count < max(width, 20), "\(line)")
        }
        #expect(ProgressBar.line(progress(0, of: 0), width: 80).contains("0%"))
    }

    @Test("shows what is done and how far it is")
    func line() {
        let line = ProgressBar.line(progress(500), width: 80)
        #expect(line.hasPrefix("verifying [") && line.hasSuffix("50%"))
        #expect(line.filter { $0 == "#" }.count == line.filter { $0 == "." }.count)
        #expect(ProgressBar.line(progress(1_000), width: 80).hasSuffix("100%"))
    }

    @Test("sentences are broken at spaces into lines that fit")
    func sentences() {
        let text = "one two " + String(repeating: "x", count: 30) + " three four"
        #expect(
            Terminal.lines(text, width: 12, indentation: 2) == [
                "one two", "  " + String(repeating: "x", count: 30), "  three four",
            ]
        )
        #expect(Terminal.lines("", width: 10).isEmpty)
        #expect(Terminal.lines("word", width: 2) == ["word"])
    }
}
