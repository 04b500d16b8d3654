/// What is left of a list when everything is taken out of it that a failure does not need.
///
/// Takes out halves, then quarters and so on down to single elements, and keeps the list without them as long as that
/// fails as well. The order stays.
///
/// - Parameters:
///   - elements: A list that fails.
///   - tries: How often the closure is asked at most.
///   - fails: Whether a shorter list fails.
/// - Returns: The shortest list that was found.
/// - Throws: What the closure throws.
public func shrunk<Element>(
    _ elements: [Element],
    tries: Int = 200,
    while fails: ([Element]) async throws -> Bool
) async rethrows -> [Element] {
    var (elements, tries) = (elements, tries)
    var size = elements.count / 2
    while size > 0 {
        var start = 0
        while start < elements.count, elements.count > 1 {
            guard tries > 0 else { return elements }
            tries -= 1
            let shorter = Array(elements[..<start] + elements[min(start + size, elements.count)...])
            if try await fails(shorter) { elements = shorter } else { start += size }
        }
        size /= 2
    }
    return elements
}
