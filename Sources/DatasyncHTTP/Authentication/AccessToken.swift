#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A token and when it ends. No description of it shows its text.
public struct AccessToken: Sendable {
    let text: String
    let expires: Date?

    /// A token.
    ///
    /// - Parameters:
    ///   - text: The token alone, without the name of a scheme in front of it.
    ///   - expires: When it ends; nil when that is not known. It is then used until the server refuses it.
    public init(_ text: String, expires: Date? = nil) {
        self.text = text
        self.expires = expires
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// When the token ends, without its text.
    public var description: String { "AccessToken(expires: \(expires.map { "\($0)" } ?? "not known"))" }

    /// The same.
    public var debugDescription: String { description }

    /// No children: dumping a token shows nothing of it.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
