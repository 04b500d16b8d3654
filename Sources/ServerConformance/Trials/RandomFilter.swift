internal import ConformanceRunner

/// A random filter over the rows of ``FilterWorld``, as text and as what it means.
struct RandomFilter: Sendable {
    /// The filter, with names of columns in braces.
    let text: String
    private let matching: Set<Int>
    /// Whether it has an `or` outside of parentheses: `and` binds closer.
    private let isLoose: Bool

    /// Whether the row of a number is found.
    func matches(_ index: Int) -> Bool { matching.contains(index) }

    /// Makes one, of up to three levels.
    init(using random: inout SeededRandom, depth: Int = 3) {
        if depth > 0, random.chance(70) {
            let first = RandomFilter(using: &random, depth: depth - 1)
            guard random.chance(75) else {
                text = "not(\(first.text))"
                matching = Self.all.subtracting(first.matching)
                isLoose = false
                return
            }
            let second = RandomFilter(using: &random, depth: depth - 1)
            let isAnd = random.chance(50)
            let operands = [first, second]
                .map { operand in
                    (isAnd && operand.isLoose) || random.chance(50) ? "(\(operand.text))" : operand.text
                }
            text = "\(operands[0]) \(isAnd ? "and" : "or") \(operands[1])"
            isLoose = !isAnd
            matching = isAnd ? first.matching.intersection(second.matching) : first.matching.union(second.matching)
        } else {
            (text, matching) = Self.comparison(using: &random)
            isLoose = false
        }
    }

    private static let all = Set(FilterWorld.texts.indices)

    private static func comparison(using random: inout SeededRandom) -> (String, Set<Int>) {
        let operation = random.pick(["eq", "ne", "gt", "ge", "lt", "le"])
        switch random.next() % 3 {
        case 0:
            let number = random.pick(FilterWorld.numbers.filter { $0 >= 0 })
            return ("{number} \(operation) \(number)", all.filter { holds(operation, FilterWorld.numbers[$0], number) })
        case 1:
            // Those before which 'Banana' comes with and without regard to case: servers differ there.
            let text = random.pick(FilterWorld.texts.filter { $0 > "banana" })
            let found = all.filter { holds(operation, FilterWorld.texts[$0].lowercased(), text) }
            return ("{text} \(operation) '\(text.replacing("'", with: "''"))'", found)
        default:
            let value = random.chance(50)
            let isEqual = operation == "eq" || operation == "gt" || operation == "ge"
            let found = all.filter { (FilterWorld.booleans[$0] == value) == isEqual }
            return ("{boolean} \(isEqual ? "eq" : "ne") \(value)", found)
        }
    }

    private static func holds<Value: Comparable>(_ operation: String, _ first: Value, _ second: Value) -> Bool {
        switch operation {
        case "eq": first == second
        case "ne": first != second
        case "gt": first > second
        case "ge": first >= second
        case "lt": first < second
        default: first <= second
        }
    }
}
