internal import HTTPTransport
internal import SyncContract

extension ServerResponse {
    /// The server's clock when it answered, in milliseconds since 1970; nil when it did not say, or not in the form of
    /// RFC 9110 (section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    var date: Int64? {
        let words = (fields[.date] ?? "").split(separator: " ").map(String.init)
        guard words.count == 6, words[5] == "GMT", let month = Self.months.firstIndex(of: words[2]) else { return nil }
        func padded(_ text: String) -> String { text.count == 1 ? "0" + text : text }
        let instant = "\(words[3])-\(padded(String(month + 1)))-\(padded(words[1]))T\(words[4])Z"
        return Timestamp(instant)?.milliseconds
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
