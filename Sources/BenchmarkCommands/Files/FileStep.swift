internal import CommandArguments

/// What happens to the file, in order.
enum FileStep: String, CaseIterable, ExpressibleByArgument {
    case add, send, evict, fetch, read

    /// Whether it goes over the network.
    var travels: Bool { self == .send || self == .fetch }
}
