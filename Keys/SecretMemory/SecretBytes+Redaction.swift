extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type and the size, never the content.
    public var description: String { "SecretBytes(\(count) bytes)" }

    /// The type and the size, never the content.
    public var debugDescription: String { description }

    /// A mirror without children: the address of the bytes is nobody's business either.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .class) }
}
