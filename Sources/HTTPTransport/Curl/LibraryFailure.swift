#if !canImport(Darwin)
/// What libcurl said of a failure: for people who look it up, and for reports.
public struct LibraryFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number of the error, a `CURLcode`.
    public let code: Int

    /// The library's words, or those of OpenSSL. They may name the server, never a path or a field.
    public let text: String

    /// Number and words in one line.
    public var description: String { "libcurl \(code)" + (text.isEmpty ? "" : ": \(text)") }
}
#endif
