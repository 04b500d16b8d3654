/// The first line of a request, taken apart (RFC 9112 3).
struct RequestLine: Sendable {
    let text: String
    /// As sent; the case of methods counts.
    let method: String
    /// Path and query as sent, or `*`.
    let target: String
    /// The host and port of a target that is a whole URL; nil for the usual form.
    let authority: String?
    let isVersion1Point0: Bool

    init(_ line: ArraySlice<UInt8>) throws(RequestRefusal) {
        let parts = line.split(separator: ByteClasses.space, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed("the request line is not method, target and version") }
        guard !parts[0].isEmpty, parts[0].allSatisfy(ByteClasses.isToken) else {
            throw .malformed("the method is missing or has a byte that methods do not have")
        }
        guard !parts[1].isEmpty, parts[1].allSatisfy(ByteClasses.isVisible) else {
            throw .malformed("the target is missing or has a byte that should be percent-encoded")
        }
        isVersion1Point0 = try Self.isVersion1Point0(parts[2])
        text = String(decoding: line, as: UTF8.self)
        method = String(decoding: parts[0], as: UTF8.self)
        (target, authority) = try Self.target(String(decoding: parts[1], as: UTF8.self), method: method)
    }

    private static func isVersion1Point0(_ version: ArraySlice<UInt8>) throws(RequestRefusal) -> Bool {
        let bytes = Array(version)
        guard bytes.count == 8, bytes.starts(with: "HTTP/".utf8), bytes[6] == UInt8(ascii: "."),
            ByteClasses.isDigit(bytes[5]), ByteClasses.isDigit(bytes[7])
        else { throw .malformed("the version is not of the form HTTP/1.1") }
        switch (bytes[5], bytes[7]) {
        case (UInt8(ascii: "1"), UInt8(ascii: "1")): return false
        case (UInt8(ascii: "1"), UInt8(ascii: "0")): return true
        default: throw RequestRefusal(status: 505, reason: "the version is neither HTTP/1.1 nor HTTP/1.0")
        }
    }

    /// The forms of RFC 9112 3.2 but `authority-form`, which is for proxies.
    private static func target(
        _ target: String,
        method: String
    ) throws(RequestRefusal) -> (target: String, authority: String?) {
        if target.hasPrefix("/") || (target == "*" && method == "OPTIONS") { return (target, nil) }
        for scheme in ["http://", "https://"] where target.lowercased().hasPrefix(scheme) {
            let rest = target.dropFirst(scheme.count)
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            guard !authority.isEmpty, authority.utf8.allSatisfy(ByteClasses.isHost) else { break }
            let path = rest.dropFirst(authority.count)
            return (path.hasPrefix("/") ? String(path) : "/\(path)", String(authority))
        }
        throw .malformed("the target is neither a path nor a URL of a path")
    }
}
