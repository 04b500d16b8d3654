internal import ConformanceRunner
internal import HTTPTransport

/// One request, as a rule wants it sent.
struct ServerRequest: Sendable {
    var method: String
    /// Path below the table's, percent-encoded, such as `/an-id`; nothing means the table itself.
    var suffix = ""
    /// The options, not encoded.
    var query: [(String, String)] = []
    /// The query as it stands in the address, instead of ``query``.
    var rawQuery: String?
    /// Header fields; nil takes out one that is sent by default.
    var headers: [String: String?] = [:]
    var body: [UInt8]?

    /// The path of a row.
    static func path(of id: String) -> String { "/" + encoded(id) }

    var queryText: String {
        rawQuery ?? query.map { "\(Self.encoded($0, also: "$"))=\(Self.encoded($1))" }.joined(separator: "&")
    }

    /// Percent-encodes all but RFC 3986's unreserved characters.
    static func encoded(_ text: String, also kept: String = "") -> String {
        let digits = Array("0123456789ABCDEF")
        var result = ""
        for byte in text.utf8 {
            let character = Character(UnicodeScalar(byte))
            let isKept = byte < 128 && (character.isLetter || character.isNumber || "-._~\(kept)".contains(character))
            result += isKept ? String(character) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
        return result
    }

    /// The request in one line, the query readable.
    func description(table: String) -> String {
        var text = "\(method) \(table)\(suffix)"
        let options = rawQuery ?? query.map { "\($0)=\($1)" }.joined(separator: "&")
        if !options.isEmpty { text += "?\(options)" }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { text += " [\(name): \(value ?? "none")]" }
        if let body { text += " \(brief(String(decoding: body, as: UTF8.self)))" }
        return text
    }
}

/// What came back.
struct ServerResponse: Sendable {
    /// The request in one line.
    let request: String
    let status: Int
    let headers: HTTPFields
    let body: [UInt8]

    /// The body as JSON; nil when it is none.
    var json: JSON? { JSON(body) }

    /// A header field.
    subscript(name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

    /// The rows of a page, in either form; nil when this is none.
    var items: [JSON]? { json?["items"]?.array ?? json?.array ?? json?["results"]?.array }

    /// What the server says, short.
    var words: String { brief(String(decoding: body, as: UTF8.self)) }

    /// The same with no word that is longer than a line, be its signs as wide as they are.
    var fewWords: String {
        words.split(whereSeparator: \.isWhitespace).map { $0.count > 36 ? $0.prefix(36) + "…" : $0 }
            .joined(separator: " ")
    }

    var isSuccess: Bool { (200...299).contains(status) }

    var isRefusal: Bool { (400...599).contains(status) }
}

extension ServerResponse: CustomStringConvertible {
    var description: String {
        var text = "\(status)"
        for name in ["ETag", "Location", "Last-Modified", "Link"] {
            if let value = self[name] { text += ", \(name): \(value)" }
        }
        if !body.isEmpty { text += ", \(words)" }
        return text
    }
}

/// There is no answer to judge.
struct NoResponse: Error {
    let request: String
    let reason: String
    /// Whether the server may be gone: it was not reached, or said nothing that is HTTP.
    let isUnreachable: Bool
}
