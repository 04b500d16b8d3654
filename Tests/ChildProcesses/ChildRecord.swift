internal import Foundation
internal import Synchronization

/// What a program has written, how it ended, and who waits for that.
final class ChildRecord: Sendable {
    /// The two outputs of a program.
    enum Stream {
        case output
        case errors
    }

    private struct Search {
        var text: [UInt8]
        var place: Int
        var continuation: CheckedContinuation<Int?, Never>
    }

    private struct State {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var isOutputOver = false
        var ending: ChildProcess.Ending?
        var searches: [Search] = []
        var waiting: [CheckedContinuation<ChildProcess.Result, Never>] = []

        var result: ChildProcess.Result? {
            ending.map { ChildProcess.Result(ending: $0, outputBytes: output, errorBytes: errors) }
        }

        func found(_ search: Search) -> Int?? {
            let rest = output[min(search.place, output.count)...]
            // An empty text is at any place.
            let range = search.text.isEmpty ? rest.startIndex..<rest.startIndex : rest.firstRange(of: search.text)
            if let range { return .some(range.upperBound) }
            return isOutputOver ? .some(nil) : nil
        }

        /// Takes the searches that have come to an end, to be told so outside the lock.
        mutating func settleSearches() -> [(search: Search, place: Int?)] {
            var settled: [(search: Search, place: Int?)] = []
            let all = searches
            searches = []
            for search in all {
                if let place = found(search) {
                    settled.append((search, place))
                } else {
                    searches.append(search)
                }
            }
            return settled
        }
    }

    private let identifier: pid_t
    private let state = Mutex(State())

    init(_ identifier: pid_t) { self.identifier = identifier }

    var output: [UInt8] { state.withLock { $0.output } }

    var isRunning: Bool { state.withLock { $0.ending == nil } }

    func append(_ bytes: [UInt8], _ stream: Stream) {
        let settled = state.withLock { state in
            switch stream {
            case .output: state.output += bytes
            case .errors: state.errors += bytes
            }
            return stream == .output ? state.settleSearches() : []
        }
        for (search, place) in settled { search.continuation.resume(returning: place) }
    }

    func place(behind text: [UInt8], from place: Int) async -> Int? {
        await withCheckedContinuation { continuation in
            let search = Search(text: text, place: place, continuation: continuation)
            let found: Int?? = state.withLock { state in
                let found = state.found(search)
                if found == nil { state.searches.append(search) }
                return found
            }
            if let found { continuation.resume(returning: found) }
        }
    }

    func result() async -> ChildProcess.Result {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state in
                let result = state.result
                if result == nil { state.waiting.append(continuation) }
                return result
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    /// Sends a signal as long as the identifier is the program's, which it is until the system was asked for its end.
    func signal(_ signal: Int32, everything: Bool) {
        state.withLock { state in
            guard state.ending == nil else { return }
            // The program leads a group of its own.
            _ = kill(everything ? -identifier : identifier, signal)
        }
    }

    /// Blocks the thread until the program has ended, and tells everybody.
    func waitForEnd() {
        var information = unsafe siginfo_t()
        // The identifier stays the program's meanwhile: nothing is sent to another one by mistake.
        while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        let (settled, waiting, result) = state.withLock { state in
            var status: Int32 = 0
            while unsafe waitpid(identifier, &status, 0) == -1, errno == EINTR {}
            let signal = status & 0x7F
            state.ending = signal == 0 ? .exit(status: (status >> 8) & 0xFF) : .signal(signal)
            state.isOutputOver = true
            defer { state.waiting = [] }
            return (state.settleSearches(), state.waiting, state.result)
        }
        for (search, place) in settled { search.continuation.resume(returning: place) }
        for continuation in waiting { if let result { continuation.resume(returning: result) } }
    }
}
