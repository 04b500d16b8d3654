/// The head of an answer, taken in line by line, and what it says about where the answer ends.
///
/// Interim answers (100 to 199) are passed over.
struct ResponseHead {
    /// Why lines are not a head that an answer can be told by.
    struct Refusal: Error {
        let reason: String
    }

    /// How the body ends (RFC 9112, section 6.3).
    enum Body: Equatable {
        case none
        case length(Int)
        case chunked
    }

    private(set) var status = 0
    private(set) var fields = HTTPFields()

    /// Whether the empty line that ends the head has come.
    private(set) var isComplete = false

    /// How the body ends; nil until the head is complete.
    private(set) var body: Body?

    /// Bytes of all lines so far, those of interim answers included.
    private(set) var size = 0

    private let isResponseToHead: Bool

    init(to method: HTTPRequest.Method) {
        isResponseToHead = method == .head
        fields.reserveCapacity(12)
    }

    /// Takes a line, with or without what ends it. Lines behind the head are trailers, of which nothing is needed.
    mutating func receive(line: some BidirectionalCollection<UInt8>) throws(Refusal) {
        size += line.count
        guard !isComplete else { return }
        let end = line.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { line.index(after: $0) } ?? line.startIndex
        let content = line[..<end]
        if status == 0 {
            status = try Self.status(content)
        } else if !content.isEmpty {
            try receive(field: content)
        } else if (100...199).contains(status) {
            (status, fields) = (0, [:])
        } else {
            body = try endOfBody()
            isComplete = true
        }
    }

    private static func status(_ line: some BidirectionalCollection<UInt8>) throws(Refusal) -> Int {
        let words = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0].starts(with: "HTTP/1.".utf8), words[0].count == 8, words[1].count == 3,
            let code = number(words[1], atMost: 999), code >= 100
        else { throw Refusal(reason: "its first line is not one of HTTP/1.1") }
        guard code != 101 else { throw Refusal(reason: "it changes to a protocol that nobody asked for") }
        return code
    }

    private mutating func receive(field line: some BidirectionalCollection<UInt8>) throws(Refusal) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        else { throw Refusal(reason: "its head has a line that is not a field") }
        var value = line[line.index(after: colon)...]
        while let first = value.first, Self.isSpace(first) { value = value.dropFirst() }
        let end = value.lastIndex { !Self.isSpace($0) }.map { value.index(after: $0) } ?? value.startIndex
        fields.append(HTTPField(name: name, value: String(decoding: value[..<end], as: UTF8.self)))
    }

    /// How the body ends, as the complete head tells it.
    private func endOfBody() throws(Refusal) -> Body {
        if isResponseToHead || status == 204 || status == 304 { return .none }
        if let coding = fields[.transferEncoding] {
            let last = coding.split(separator: ",").last.map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard last == "chunked" else { throw Refusal(reason: "nothing tells where its body ends") }
            return .chunked
        }
        var length: Int?
        for field in fields where field.name == .contentLength {
            // One field may hold several, as a list.
            for text in field.value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                guard let number = Self.number(text.filter { !Self.isSpace($0) }, atMost: .max) else {
                    throw Refusal(reason: "its length is not a number")
                }
                guard length == nil || length == number else { throw Refusal(reason: "it has two lengths that differ") }
                length = number
            }
        }
        guard let length else { throw Refusal(reason: "nothing tells where its body ends") }
        return .length(length)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// A number of decimal digits and nothing else.
    private static func number(_ digits: some BidirectionalCollection<UInt8>, atMost limit: Int) -> Int? {
        guard !digits.isEmpty else { return nil }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = tens.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
            guard !isTooLarge, !overflows, sum <= limit else { return nil }
            number = sum
        }
        return number
    }
}
