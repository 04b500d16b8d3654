/// Something that was found out about a subject and that is neither right nor wrong.
public struct SubjectProperty: Sendable, Hashable {
    /// What it is, in a few words.
    public let name: String
    /// What was found, for people.
    public let text: String

    /// Says what was found.
    public init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }
}
