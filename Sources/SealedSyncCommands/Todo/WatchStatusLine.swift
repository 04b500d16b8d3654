internal import Foundation
internal import SealedSync
internal import Synchronization

/// What `todo watch` says of its session: a line that is drawn anew on a terminal, else a line or an object for each change.
final class WatchStatusLine: Sendable {
    /// What there is to say.
    struct Status: Encodable, Sendable, Equatable {
        var state: String
        /// When the next attempt is made, ISO 8601.
        var until: String?
        var connection: String
        var suspended: String
        var pending: Int
        var conflicts: Int
        var failed: Int
        /// 0 to 1.
        var progress: Double
        var error: String?

        /// Whether it says more than an earlier one: how far the work is, and that some of many changes were sent, does not;
        /// that it has ended does, where it was said to go on.
        func isNews(after former: Status?) -> Bool {
            guard var former else { return true }
            if progress < 1 || former.progress == 1 { former.progress = progress }
            if pending > 0, pending < former.pending { former.pending = pending }
            return self != former
        }
    }

    private struct State {
        var progress = 1.0
        var shown: Status?
        var isDrawn = false
    }

    private let json: Bool
    private let isLive = Terminal.isStandardErrorTerminal
    private let state = Mutex(State())

    init(json: Bool) { self.json = json }

    func progressed(_ progress: SyncProgress) { state.withLock { $0.progress = progress.progressEstimate } }

    /// Says what the session is at, if that has changed.
    func show(_ todos: TodoSession, _ session: SyncSession) async {
        let counts: SyncStatus
        do { counts = try await todos.context.status() } catch { return }
        state.withLock { state in
            let status = Status(session, counts, progress: state.progress)
            // What is drawn anew may change all the time; what stays is worth it only when something has happened.
            guard isLive && !json ? status != state.shown : status.isNews(after: state.shown) else { return }
            state.shown = status
            if json {
                write(status)
            } else if isLive {
                Console.writeError("\r\u{1B}[K" + String(status.text.prefix(Terminal.width - 1)), terminator: "")
                state.isDrawn = true
            } else {
                Console.write(status.text)
            }
        }
    }

    /// Prints an answer for people above the line, or as an object.
    func answer(_ text: String, _ object: some Encodable & Sendable, isError: Bool = false) {
        state.withLock { state in
            if json { return write(object) }
            if state.isDrawn { Console.writeError("\r\u{1B}[K", terminator: "") }
            if isError { Console.writeError(sentence: "sealedsync: \(text)") } else { Console.write(text) }
            // What comes next draws the line again.
            if isLive { state.shown = nil }
        }
    }

    /// Leaves the terminal as it was.
    func end() {
        state.withLock { state in if state.isDrawn { Console.writeError("\r\u{1B}[K", terminator: "") } }
    }

    private func write(_ object: some Encodable) {
        do { try Console.write(json: object) } catch {
            Console.writeError(sentence: "sealedsync: an answer could not be written as JSON: \(error)")
        }
    }
}

extension WatchStatusLine.Status {
    init(_ session: SyncSession, _ counts: SyncStatus, progress: Double) {
        connection = "\(session.connectionState)"
        suspended = "\(session.suspended)"
        pending = counts.pending
        conflicts = counts.conflicts
        failed = counts.failed
        self.progress = (progress * 1_000).rounded(.down) / 1_000
        error = session.error.map { Failure($0).text }
        switch session.state {
        case .backingOff(let date):
            state = "backingOff"
            until = date.formatted(.iso8601)
        case let other: state = "\(other)"
        }
    }

    /// `connected, 2 to send [####......] 40%, next attempt at 12:00:07`
    var text: String {
        var parts = [state == "active" ? connection : state == "backingOff" ? "waiting" : state]
        if state != "suspended", suspended != "none" { parts[0] += " (\(suspended) suspended)" }
        if pending > 0 { parts.append("\(pending) to send") }
        if conflicts > 0 { parts.append("\(conflicts) in conflict") }
        if failed > 0 { parts.append("\(failed) refused") }
        if progress < 1, state == "active" {
            let filled = Int(progress * 10)
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 10 - filled)
            parts.append("[\(bar)] \(Int(progress * 100))%")
        }
        if let until { parts.append("next attempt at \(until)") }
        // The service has answered since.
        let isOver = state == "active" && connection == "connected"
        if let error, !isOver { parts.append(error) }
        return parts.joined(separator: ", ")
    }
}
