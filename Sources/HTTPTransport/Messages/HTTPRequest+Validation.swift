extension HTTPRequest {
    /// What a request looks like once it is known that it can be sent.
    struct Address: Sendable {
        /// The host and port, for messages.
        let server: String
        /// The whole address.
        let url: String
        let isSecure: Bool
    }

    /// The address of the request.
    ///
    /// What is checked here no library below refuses: line breaks in a field reached servers as fields and requests of
    /// their own, and credentials in an address were sent as a password.
    ///
    /// - Throws: ``TransportError/Code/invalidRequest`` when something of the request cannot be sent.
    func address() throws(TransportError) -> Address {
        guard let scheme, scheme == "http" || scheme == "https" else {
            throw .invalid("The request has no scheme; give 'https' or 'http'.")
        }
        guard let authority, Self.isAuthority(authority) else {
            throw .invalid(
                "The request names no server; give host and port in ASCII (an international name in Punycode), without"
                    + " credentials."
            )
        }
        guard let path, path.utf8.first == UInt8(ascii: "/"), path.utf8.allSatisfy(Self.isInTarget) else {
            throw .invalid(
                "The path of the request to \(authority) is none; begin it with '/', and percent-encode what is not"
                    + " ASCII, and spaces."
            )
        }
        for field in headerFields {
            guard !Self.framing.contains(field.name) else {
                throw .invalid(
                    "The field \(field.name) of the request to \(authority) is the transport's; leave it out."
                )
            }
            guard HTTPField.isValidValue(field.value) else {
                throw .invalid(
                    "The field \(field.name) of the request to \(authority) has characters that no field may have;"
                        + " take out line breaks and control characters."
                )
            }
        }
        guard method != .head || body == nil else {
            throw .invalid("The request to \(authority) is a HEAD with a body; leave the body out.")
        }
        let size = headerFields.reduce(path.utf8.count) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 }
        guard size <= Self.maximumHeadSize else {
            throw .invalid(
                "The head of the request to \(authority) has more than \(Self.maximumHeadSize) bytes; make its path and"
                    + " its fields shorter."
            )
        }
        return Address(server: authority, url: scheme + "://" + authority + path, isSecure: scheme == "https")
    }

    /// Far more than any server takes, and less than libcurl does.
    private static let maximumHeadSize = 256 * 1_024

    /// Fields that frame messages, or speak about one connection: the transport writes them.
    package static let framing: [HTTPField.Name] =
        [.host, .contentLength, .transferEncoding, .connection, .expect]
        + ["Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Upgrade"].map(HTTPField.Name.init(checked:))

    private static func isAuthority(_ text: String) -> Bool {
        guard let first = text.utf8.first, first != UInt8(ascii: ":") else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                true
            default: false
            }
        }
    }

    /// Printable ASCII but what begins a fragment, which is never sent.
    private static func isInTarget(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "#") }
}

extension TransportError {
    static func invalid(_ message: String) -> TransportError {
        TransportError(.invalidRequest, message, fate: .notSent)
    }
}
