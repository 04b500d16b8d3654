/// The names of a table's columns that mean nothing to the server, or something else, and what is made of its own columns of
/// these names.
///
/// A column that is not declared has the same name on both sides, unless it is taken here: then its values are kept under that
/// name with a mark behind it, under which no column can be declared.
package struct TakenNames: Sendable {
    private static let mark = "@server"

    private let names: Set<String>

    /// The names that a table takes.
    package init(_ table: TableDefinition?) {
        names = Set((table?.columns ?? []).filter { $0.isLocal || $0.wireName != $0.name }.map(\.name))
    }

    /// Whether a column here has this very name.
    package func contain(_ name: String) -> Bool { names.contains(name) }

    /// The name here of a column that is not declared.
    package func kept(_ name: String) -> String { isTaken(name) ? name + Self.mark : name }

    /// The server's name of a column that is not declared.
    package func given(_ name: String) -> String {
        guard let given = Self.withoutMark(name), isTaken(given) else { return name }
        return given
    }

    /// A name without the last mark behind it; nil for one without any.
    package static func withoutMark(_ name: String) -> String? {
        name.hasSuffix(mark) ? String(name.dropLast(mark.count)) : nil
    }

    /// A name without all marks behind it.
    package static func root(of name: String) -> String {
        var root = name
        while let shorter = withoutMark(root) { root = shorter }
        return root
    }

    private func isTaken(_ name: String) -> Bool { names.contains(Self.root(of: name)) }
}
