internal import SyncContract

/// One observer, for one task at a time.
actor LiveQuery<Element: Sendable> {
    private var elements: StoreObservation<Element>.Iterator?

    init(_ observation: StoreObservation<Element>) { elements = observation.makeAsyncIterator() }

    /// The next result; nil when the query has ended, also by an error.
    func next() async -> Element? {
        guard var iterator = elements else { return nil }
        elements = nil
        do {
            let element = try await iterator.next()
            elements = iterator
            return element
        } catch {
            return nil
        }
    }
}
