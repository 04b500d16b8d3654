#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why memory for a secret could not be had or filled.
public struct SecretMemoryError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    ///
    /// More may be added, so a `switch` over it needs a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code, as it stands in descriptions.
        public let description: String

        private init(_ name: String) {
            description = name
        }

        /// The requested size is negative or above `SecretBytes.maximumCount`.
        public static let invalidCount = Code("invalidCount")
        /// The system gave no memory.
        public static let outOfMemory = Code("outOfMemory")
        /// The random generator gave no bytes.
        public static let randomUnavailable = Code("randomUnavailable")
        /// The system does not let this process keep its memory from being written to a core file.
        public static let unprotected = Code("unprotected")
    }

    /// The kind of failure.
    public let code: Code
    /// What happened, and what helps.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}

extension SecretMemoryError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}
