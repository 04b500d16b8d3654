/// A request up to its body: what was sent, and what follows from it for the bytes after it.
struct RequestHead: Sendable {
    enum Framing: Sendable, Equatable {
        /// So many bytes; 0 where nothing is said.
        case length(Int)
        case chunked
    }

    let line: RequestLine
    /// As sent, but for the Host of a target that is a whole URL: there the target's counts (RFC 9112 3.2.2).
    let fields: HTTPHeaderFields
    let framing: Framing
    /// Whether the client will send another request on the connection (RFC 9112 9.3).
    let isPersistent: Bool
    /// Whether the client waits for a 100 before it sends the body.
    let expectsContinue: Bool

    init(_ line: RequestLine, _ fields: HTTPHeaderFields) throws(RequestRefusal) {
        self.line = line
        self.fields = try Self.fieldsWithHost(line, fields)
        framing = try Self.framing(line, fields)
        let options = fields.list("Connection")
        isPersistent = !options.contains("close") && (!line.isVersion1Point0 || options.contains("keep-alive"))
        let waits = try Self.expectsContinue(fields)
        expectsContinue = waits && !line.isVersion1Point0 && framing != .length(0)
    }

    private static func fieldsWithHost(
        _ line: RequestLine,
        _ fields: HTTPHeaderFields
    ) throws(RequestRefusal) -> HTTPHeaderFields {
        let hosts = fields.values(of: "Host")
        guard hosts.count == 1 || (hosts.isEmpty && line.isVersion1Point0) else {
            throw .malformed("there is not exactly one Host field")
        }
        guard hosts.allSatisfy({ $0.utf8.allSatisfy(ByteClasses.isHost) }) else {
            throw .malformed("the Host field is not a host and a port")
        }
        guard let authority = line.authority else { return fields }
        var fields = fields
        fields["Host"] = authority
        return fields
    }

    /// RFC 9112 6.1 to 6.3, without the allowances they make: two lengths are refused even when they agree.
    private static func framing(_ line: RequestLine, _ fields: HTTPHeaderFields) throws(RequestRefusal) -> Framing {
        let lengths = fields.values(of: "Content-Length")
        if let coding = fields["Transfer-Encoding"] {
            guard lengths.isEmpty else { throw .malformed("there are a length and a transfer coding") }
            guard !line.isVersion1Point0 else { throw .malformed("HTTP/1.0 has no transfer codings") }
            if coding.lowercased() == "chunked" { return .chunked }
            let others = fields.list("Transfer-Encoding").dropLast()
            guard coding.lowercased().hasSuffix("chunked"), !others.isEmpty, !others.contains("chunked") else {
                throw .malformed("the last transfer coding is not chunked, or not the only one of that name")
            }
            throw RequestRefusal(status: 501, reason: "there is a transfer coding besides chunked")
        }
        guard let length = lengths.first else { return .length(0) }
        guard lengths.count == 1 else { throw .malformed("there are two lengths") }
        guard let count = ByteClasses.number(length.utf8) else { throw .malformed("the length is not a number") }
        return .length(count)
    }

    private static func expectsContinue(_ fields: HTTPHeaderFields) throws(RequestRefusal) -> Bool {
        let expectations = fields.list("Expect")
        guard expectations.allSatisfy({ $0 == "100-continue" }) else {
            throw RequestRefusal(status: 417, reason: "something else than 100-continue is expected")
        }
        return !expectations.isEmpty
    }
}
