import Foundation

/// The four conditional headers, evaluated as a Datasync server does, with two mends unless it is to be genuine: a list
/// in `If-Match` is accepted, and a tag list that does not parse is refused instead of ignored, for ignoring it makes a
/// write unconditional.
struct PreconditionHeaders {
    enum Outcome: Equatable {
        case met
        case notModified
        case failed
        case malformed(header: String)
    }

    private let headers: HTTPHeaderFields

    private let isGenuine: Bool

    init(_ headers: HTTPHeaderFields, isGenuine: Bool = false) {
        self.headers = headers
        self.isGenuine = isGenuine
    }

    /// Judges a row by its version and its `updatedAt`, in milliseconds since 1970.
    func evaluate(version: String, updatedAt: Int64, isRead: Bool) -> Outcome {
        let stamp = updatedAt * Timestamp.ticksPerMillisecond
        switch field("If-Match") {
        case .unreadable: return .malformed(header: "If-Match")
        case .tags(let tags):
            if !tags.contains(where: { $0.matches(version) }) { return .failed }
            // The genuine server takes the only tag that there is, and stumbles over a second one.
            if isGenuine, tags.count > 1 { return .malformed(header: "If-Match") }
        case .absent:
            if let date = headers["If-Unmodified-Since"].flatMap(Timestamp.ticks(httpText:)), date <= stamp {
                return .failed
            }
        }
        switch field("If-None-Match") {
        case .unreadable: return .malformed(header: "If-None-Match")
        case .tags(let tags):
            if tags.contains(where: { $0.matches(version) }) { return isRead ? .notModified : .failed }
        case .absent:
            if let date = headers["If-Modified-Since"].flatMap(Timestamp.ticks(httpText:)), date > stamp {
                return isRead ? .notModified : .failed
            }
        }
        return .met
    }

    private enum Field {
        case absent
        case unreadable
        case tags([Tag])
    }

    private func field(_ name: String) -> Field {
        guard let text = headers[name] else { return .absent }
        guard isGenuine else { return Self.tags(text).map(Field.tags) ?? .unreadable }
        // What cannot be read is dropped, member by member.
        let readable = text.split(separator: ",").flatMap { Self.tags(String($0)) ?? [] }
        return readable.isEmpty ? .absent : .tags(readable)
    }

    enum Tag: Equatable {
        case any
        case strong(String)
        case weak

        func matches(_ version: String) -> Bool {
            switch self {
            case .any: !version.isEmpty
            case .strong(let text): !version.isEmpty && text == version
            case .weak: false
            }
        }
    }

    /// The tags of a header; nil when it is neither `*` nor a list of quoted tags.
    static func tags(_ field: String) -> [Tag]? {
        var rest = Array(field.utf8)[...]
        rest.trimSpace()
        if rest.elementsEqual("*".utf8) { return [.any] }
        var tags: [Tag] = []
        repeat {
            rest.trimSpace()
            let isWeak = rest.starts(with: "W/".utf8)
            if isWeak { rest.removeFirst(2) }
            guard rest.popFirst() == UInt8(ascii: "\""), let end = rest.firstIndex(of: UInt8(ascii: "\"")) else {
                return nil
            }
            let text = String(decoding: rest[..<end], as: UTF8.self)
            guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { return nil }
            tags.append(isWeak ? .weak : .strong(text))
            rest = rest[(end + 1)...]
            rest.trimSpace()
            guard let next = rest.popFirst() else { return tags }
            guard next == UInt8(ascii: ",") else { return nil }
        } while true
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func trimSpace() {
        self = drop { $0 == 0x20 || $0 == 0x09 }
        while last == 0x20 || last == 0x09 { removeLast() }
    }
}
