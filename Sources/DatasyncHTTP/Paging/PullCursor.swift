internal import SyncContract

/// Where the next pull of a query starts: every change stamped earlier is settled on the server and was seen.
///
/// Its text is `settled INSTANT`, and `settled INSTANT lag MILLISECONDS` where stamps lag behind the server's `Date`.
struct PullCursor: Sendable, Hashable {
    var milliseconds: Int64
    /// By how much stamps lag behind the server's `Date`.
    var lag: Int64 = 0

    /// By how many milliseconds cursors are expected to go back at most: an hour, by which clocks are set back that keep
    /// local time.
    static let longestReturn: Int64 = 3_600_000

    init(milliseconds: Int64, lag: Int64 = 0) {
        self.milliseconds = milliseconds
        self.lag = lag
    }

    /// Reads a cursor; nil for what is none.
    ///
    /// A bare instant is a cursor of earlier versions: the greatest stamp that was seen, with rows that may have become
    /// visible behind it since.
    init?(_ text: String, settlingTime: Duration) {
        if let newest = Timestamp(text) {
            self.init(milliseconds: newest.milliseconds - settlingTime.wholeMilliseconds)
            return
        }
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 2 || words.count == 4, words[0] == "settled", let instant = Timestamp(words[1]) else {
            return nil
        }
        self.init(milliseconds: instant.milliseconds)
        guard words.count == 4 else { return }
        guard words[2] == "lag", let lag = Int64(words[3]), lag >= 0 else { return nil }
        self.lag = lag
    }

    var text: String {
        "settled \(Timestamp(milliseconds: milliseconds).text)" + (lag > 0 ? " lag \(lag)" : "")
    }
}

extension Duration {
    /// Rounded up.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
