internal import Foundation
internal import HTTPTransport
internal import SyncContract

extension ServerResponse {
    /// The server's clock when it answered, in milliseconds since 1970; nil when it did not say, or not in the form of
    /// RFC 9110 (section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    var date: Int64? { fields[.date].flatMap(Self.instant) }

    /// How long the server asks to wait, at most a year; nil when it does not say. It says a number of seconds or an
    /// instant, which is reckoned from its own clock when it shows one (RFC 9110, section 10.2.3).
    var retryAfter: Duration? {
        // Whoever adds it to the time stays within what a clock can hold.
        askedWait.map { min($0, .seconds(365 * 86_400)) }
    }

    private var askedWait: Duration? {
        guard let text = fields[.retryAfter] else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number that has too many digits is a long time as well.
            return .seconds(Int64(text) ?? .max)
        }
        guard let instant = Self.instant(text) else { return nil }
        let now = date ?? Int64((Date().timeIntervalSince1970 * 1_000).rounded())
        return .milliseconds(max(0, instant - now))
    }

    /// The instant of a date in that form, in milliseconds since 1970; nil when it has another form.
    static func instant(_ text: String) -> Int64? {
        // As bytes: what a change learns from is asked of every answer, and characters take ten times as long.
        let words = text.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: words[2]) else { return nil }
        func padded(_ text: String) -> String { text.count == 1 ? "0" + text : text }
        let instant = "\(words[3])-\(padded(String(month + 1)))-\(padded(words[1]))T\(words[4])Z"
        return Timestamp(instant)?.milliseconds
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
