/// The positions of an item's properties among the names of a record.
///
/// A type asks for its properties in the same order for every item, so the answers of the first item are tried first.
struct PropertySlots {
    /// The names of the record, without `id`.
    private(set) var names: [String]

    /// What was asked for, in order, and the answers; -1 for none.
    private var questions: [String] = []
    private var answers: [Int] = []
    private var next = 0

    init(_ names: [String]) { self.names = names }

    /// How many names are remembered, as columns and as questions.
    var memorySize: Int { names.count + questions.count }

    /// Begins with another item.
    mutating func begin() { next = 0 }

    /// The position of a name; nil when there is none, as for `id`.
    mutating func slot(of name: String, appending: Bool) -> Int? {
        if next < questions.count, questions[next] == name {
            defer { next += 1 }
            return answers[next] < 0 ? nil : answers[next]
        }
        let slot = find(name, appending: appending)
        // Another order than before, which begins here.
        questions.removeSubrange(next...)
        answers.removeSubrange(next...)
        questions.append(name)
        answers.append(slot ?? -1)
        next += 1
        return slot
    }

    private mutating func find(_ name: String, appending: Bool) -> Int? {
        if name == "id" { return nil }
        if let slot = names.firstIndex(of: name) { return slot }
        guard appending else { return nil }
        names.append(name)
        return names.count - 1
    }
}
