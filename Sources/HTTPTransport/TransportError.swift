/// Why a request brought no complete answer.
///
/// Messages name the server and what to do next; never a path, a query, a field or a body.
public struct TransportError: Error, Sendable {
    /// A reason to branch on. Codes may be added: switch with a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code as a word.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The request cannot be sent: its address, its method or a header field is none.
        public static let invalidRequest = Code("invalidRequest")
        /// The server's name is not known.
        public static let unknownHost = Code("unknownHost")
        /// Nobody listens there, or there is no way to it.
        public static let cannotConnect = Code("cannotConnect")
        /// No complete answer came in time.
        public static let timedOut = Code("timedOut")
        /// The connection broke before the answer was complete.
        public static let connectionLost = Code("connectionLost")
        /// The server's certificate is signed by nobody who is trusted here.
        public static let untrustedCertificate = Code("untrustedCertificate")
        /// The server's certificate is valid no more, or not yet.
        public static let expiredCertificate = Code("expiredCertificate")
        /// The server's certificate is for another host.
        public static let certificateForAnotherHost = Code("certificateForAnotherHost")
        /// The server wants to see a certificate of the client.
        public static let clientCertificateRequired = Code("clientCertificateRequired")
        /// The server does not speak TLS on this port.
        public static let noTLS = Code("noTLS")
        /// The server speaks only versions of TLS before 1.2, or none in common.
        public static let oldTLSVersion = Code("oldTLSVersion")
        /// A secure connection could not be made for another reason.
        public static let secureConnectionFailed = Code("secureConnectionFailed")
        /// The trusted certificates cannot be read.
        public static let unreadableCertificates = Code("unreadableCertificates")
        /// The answer is larger than the options allow.
        public static let tooLarge = Code("tooLarge")
        /// What came is not an answer of HTTP, or one whose end cannot be told.
        public static let invalidResponse = Code("invalidResponse")
        /// The transport was closed.
        public static let closed = Code("closed")
    }

    /// What may have become of the request.
    public enum Fate: Sendable, Hashable {
        /// No byte of it was sent: sending it again cannot do anything twice.
        case notSent
        /// It was sent at least in part. The server may have processed it.
        case mayHaveBeenProcessed
    }

    /// The reason to branch on.
    public let code: Code

    /// What went wrong and what to do next.
    public let message: String

    /// What may have become of the request.
    public let fate: Fate

    /// What the library underneath said, when it said something.
    public let cause: (any Error)?

    /// An error.
    public init(_ code: Code, _ message: String, fate: Fate, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.fate = fate
        self.cause = cause
    }
}

extension TransportError: CustomStringConvertible {
    /// Code, message and cause in one line.
    public var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }
}
