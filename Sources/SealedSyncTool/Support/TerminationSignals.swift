// A dispatch source may be used from any thread; its type does not say so.
@unsafe @preconcurrency internal import Dispatch
internal import Foundation

/// The signals that ask a process to stop. As long as an object lives, the first of them does not end the process.
final class TerminationSignals: Sendable {
    private static let numbers = [SIGINT, SIGTERM]

    private let arrivals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    /// Takes the signals over.
    init() {
        let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
        self.arrivals = arrivals
        sources = Self.numbers.map { number in
            // The default action would end the process before the source sees the signal.
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Returns when a signal arrives, or the task is cancelled. The next signal ends the process.
    func first() async {
        for await _ in arrivals { break }
        for number in Self.numbers { _ = signal(number, SIG_DFL) }
    }

    deinit {
        for source in sources { source.cancel() }
    }
}
