internal import Foundation
internal import SyncContract

/// Where the next pull of a query starts: every change stamped earlier is settled on the server and was seen.
///
/// Its text is `settled INSTANT`, with `lag MILLISECONDS` behind it where stamps lag behind the server's `Date`, and with
/// `within INSTANT text|number ID` where a pull has ended among the rows of one millisecond; the id is in Base64.
struct PullCursor: Sendable, Hashable {
    /// A place among the rows of one millisecond, which are settled: what lies before it, by id, was seen, and there is nothing
    /// between the cursor and them.
    struct Within: Sendable, Hashable {
        var milliseconds: Int64
        var id: RowKey
    }

    var milliseconds: Int64
    /// By how much stamps lag behind the server's `Date`.
    var lag: Int64 = 0
    var within: Within?

    /// By how many milliseconds cursors are expected to go back at most: an hour, by which clocks are set back that keep
    /// local time.
    static let longestReturn: Int64 = 3_600_000

    init(milliseconds: Int64, lag: Int64 = 0, within: Within? = nil) {
        (self.milliseconds, self.lag, self.within) = (milliseconds, lag, within)
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
        var words = text.split(separator: " ").map(String.init)[...]
        guard words.count >= 2, words.removeFirst() == "settled", let instant = Timestamp(words.removeFirst()) else {
            return nil
        }
        self.init(milliseconds: instant.milliseconds)
        if words.first == "lag" {
            guard words.count >= 2, let lag = Int64(words[words.startIndex + 1]), lag >= 0 else { return nil }
            self.lag = lag
            words = words.dropFirst(2)
        }
        guard !words.isEmpty else { return }
        guard let within = Within(Array(words)) else { return nil }
        self.within = within
    }

    /// Where a pull starts that knows by how much stamps lag behind the server's `Date`: where it is more than this cursor has
    /// reckoned with, what it took for settled was not, by the difference.
    func reckoning(with lag: Int64) -> PullCursor {
        guard lag > self.lag else { return self }
        return PullCursor(milliseconds: max(milliseconds - (lag - self.lag), ChangePaging.earliest), lag: lag)
    }

    var text: String {
        "settled \(Timestamp(milliseconds: milliseconds).text)" + (lag > 0 ? " lag \(lag)" : "")
            + (within.map { " \($0.text)" } ?? "")
    }
}

extension PullCursor.Within {
    fileprivate init?(_ words: [String]) {
        guard words.count == 4, words[0] == "within", let instant = Timestamp(words[1]),
            let bytes = Data(base64Encoded: words[3]), let id = String(bytes: bytes, encoding: .utf8)
        else { return nil }
        switch words[2] {
        case "text": self.init(milliseconds: instant.milliseconds, id: .text(id))
        case "number":
            guard let number = Int64(id) else { return nil }
            self.init(milliseconds: instant.milliseconds, id: .number(number))
        default: return nil
        }
    }

    fileprivate var text: String {
        let kind =
            switch id {
            case .text: "text"
            case .number: "number"
            }
        let place = "\(Timestamp(milliseconds: milliseconds).text) \(kind)"
        return "within \(place) \(Data(id.text.utf8).base64EncodedString())"
    }
}

extension Duration {
    /// Rounded up.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
