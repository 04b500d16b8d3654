#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What can go wrong in running an emulator or a proxy; what goes wrong in a request is an HTTP answer instead.
public struct EmulatorError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, to branch on. More codes may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// A scripted fault asked for the connection to be closed without an answer, or within one.
        public static let connectionDropped = Code("connectionDropped")
        /// The address cannot be listened on.
        public static let cannotListen = Code("cannotListen")
        /// The certificate or its key cannot be read, or they do not belong together.
        public static let invalidCertificate = Code("invalidCertificate")
        /// The server or proxy runs already.
        public static let alreadyRunning = Code("alreadyRunning")
        /// The table was not configured.
        public static let unknownTable = Code("unknownTable")
        /// A row given to `seed` cannot be stored.
        public static let invalidRow = Code("invalidRow")
        /// What is said of a table or a column makes no sense.
        public static let invalidDefinition = Code("invalidDefinition")
        /// A text is not JSON.
        public static let invalidJSON = Code("invalidJSON")
    }

    /// What went wrong, to branch on.
    public let code: Code
    /// What went wrong and what to do about it, for people.
    public let message: String
    /// The error behind this one, if there is one.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Code, message and cause in one line.
    public var description: String {
        "\(code): \(message)" + (cause.map { " (\($0))" } ?? "")
    }
}

extension EmulatorError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}
