/// Nothing could be run.
struct RunFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
