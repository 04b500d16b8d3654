internal import Dispatch
internal import Foundation

/// Waits for the signals that ask a process to stop.
enum TerminationSignals {
    /// Returns when SIGINT or SIGTERM arrives. From the first call on, neither ends the process by itself.
    static func wait() async {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        let sources = [SIGINT, SIGTERM]
            .map { number in
                // The default action would end the process before the source sees the signal.
                _ = signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number)
                source.setEventHandler { continuation.yield() }
                source.resume()
                return source
            }
        for await _ in signals { break }
        for source in sources { source.cancel() }
    }
}
