/// Many short lists of indices, one behind the other in one piece of memory: as arrays of their own they would cost an allocation
/// and a reference count each, whenever what holds them is copied.
struct IndexLists: Sendable {
    private var starts: [Int32] = [0]
    private var values: [Int32] = []

    /// No lists yet.
    init() {}

    /// As many lists as said, each with what is paired with its number: ascending, and each once.
    init(_ count: Int, _ pairs: [(list: Int32, value: Int32)]) {
        let pairs = pairs.sorted { ($0.list, $0.value) < ($1.list, $1.value) }
        values.reserveCapacity(pairs.count)
        starts.reserveCapacity(count + 1)
        var place = 0
        for list in 0..<Int32(count) {
            while place < pairs.count, pairs[place].list == list {
                let value = pairs[place].value
                if values.count == Int(starts[starts.count - 1]) || values[values.count - 1] != value {
                    values.append(value)
                }
                place += 1
            }
            starts.append(Int32(values.count))
        }
    }

    /// How many lists there are.
    var count: Int { starts.count - 1 }

    /// Adds a list behind the others.
    mutating func append(_ list: some Sequence<Int32>) {
        values += list
        starts.append(Int32(values.count))
    }

    /// A list.
    subscript(list: Int) -> ArraySlice<Int32> { values[Int(starts[list])..<Int(starts[list + 1])] }
}
