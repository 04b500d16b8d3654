import CLibCrypto

/// What libcrypto put into its error queue: library, function and reason, never data.
struct LibcryptoFailure: Error, Sendable, CustomStringConvertible {
    let description: String

    /// Takes the newest entry of the calling thread's queue and empties the queue.
    init() {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        description =
            unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
                unsafe text.initialize(repeating: 0)
                unsafe ERR_error_string_n(code, text.baseAddress, text.count)
                return unsafe text.baseAddress.map { unsafe String(cString: $0) } ?? ""
            }
    }
}

extension KeyError {
    /// The error for a call into libcrypto that failed for a reason of its own.
    static func libcrypto(_ operation: String) -> KeyError {
        KeyError(
            .cryptographyUnavailable,
            "Libcrypto could not do \(operation); there may be too little memory, or a provider is missing.",
            cause: LibcryptoFailure()
        )
    }
}
