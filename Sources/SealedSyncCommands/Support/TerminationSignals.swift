// A dispatch source may be used from any thread; its type does not say so.
@unsafe @preconcurrency internal import Dispatch
internal import Foundation

/// The signals that ask a process to stop. As long as an object lives, the first of them does not end the process.
final class TerminationSignals: Sendable {
    private static let numbers = [SIGINT, SIGTERM]

    private let arrivals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    /// Takes the signals over: one that comes while this runs ends the process, as before, and none is lost.
    static func takenOver() async -> TerminationSignals {
        let signals = TerminationSignals()
        for source in signals.sources {
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.resume()
            }
        }
        // Until here the default action may end the process: nothing has begun. From here on it must not. On Linux the
        // source has put a handler in its place, which must stay.
        #if canImport(Darwin)
        for number in numbers { _ = signal(number, SIG_IGN) }
        #endif
        return signals
    }

    private init() {
        let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
        self.arrivals = arrivals
        sources = Self.numbers.map { number in
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
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
