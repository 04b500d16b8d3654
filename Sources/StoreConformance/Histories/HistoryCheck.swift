internal import SyncContract

/// What no history may have.
enum Anomaly: String, Sendable, Hashable, CaseIterable {
    /// A number that nobody wrote.
    case inventedValue = "a number that nobody wrote"
    /// A number that a transaction wrote which threw.
    case dirtyRead = "a read of what was rolled back"
    /// A number that its writer replaced before it ended.
    case intermediateRead = "a read from the middle of a transaction"
    /// Another number at the second read of one transaction.
    case nonRepeatableRead = "two numbers of one row in one transaction"
    /// Not the number that the same transaction has written.
    case lostOwnWrite = "a transaction that does not read what it wrote"
    /// Two transactions that go on from one number.
    case lostUpdate = "a lost update"
    /// Some of what a transaction wrote and not the rest.
    case halfCommit = "a read of half a transaction"
    /// Writers of which each should have come before the other.
    case writeSkew = "transactions that fit into no order"
    /// What had been replaced when the transaction began.
    case staleRead = "a read of what had been replaced before it began"
}

/// Looks for what no history of transactions may have that ran as if one by one, in an order that agrees with time.
struct HistoryCheck {
    /// What was found, told by the transactions that show it.
    struct Finding: Sendable {
        let anomaly: Anomaly
        let story: [History.Transaction]
    }

    private let transactions: [History.Transaction]
    private(set) var findings: [Finding] = []
    /// The kept transaction that wrote a number, by its index.
    private var writers: [Int64: Int] = [:]
    /// What each transaction saw of others, by row.
    private var seen: [[Int: Int64?]] = []

    init(_ history: History) {
        transactions = history.transactions
        var (all, last): ([Int64: Int], Set<Int64>) = ([:], [])
        for (index, transaction) in transactions.enumerated() {
            for case .wrote(_, let number) in transaction.steps { all[number] = index }
            for (_, number) in transaction.left {
                last.insert(number)
                if transaction.isKept { writers[number] = index }
            }
        }
        for index in transactions.indices { look(inside: index, all, last) }
        guard findings.isEmpty else { return }
        findBranches()
        guard findings.isEmpty else { return }
        findCycles()
    }

    private mutating func find(_ anomaly: Anomaly, _ story: Int...) {
        findings.append(Finding(anomaly: anomaly, story: story.map { transactions[$0] }))
    }

    // MARK: One transaction

    private mutating func look(inside index: Int, _ all: [Int64: Int], _ last: Set<Int64>) {
        var (own, others): ([Int: Int64], [Int: Int64?]) = ([:], [:])
        for step in transactions[index].steps {
            switch step {
            case .wrote(let row, let number): own[row] = number
            case .read(let row, let number):
                if let mine = own[row] {
                    if number != mine { find(.lostOwnWrite, index) }
                } else if let before = others[row] {
                    if number != before { find(.nonRepeatableRead, index) }
                } else {
                    others[row] = .some(number)
                    guard let number else { continue }
                    guard let writer = all[number], writer != index else {
                        find(.inventedValue, index)
                        continue
                    }
                    if !transactions[writer].isKept {
                        find(.dirtyRead, writer, index)
                    } else if !last.contains(number) {
                        find(.intermediateRead, writer, index)
                    }
                }
            }
        }
        seen.append(others)
    }

    // MARK: Several

    /// Two kept transactions that both replaced one number of a row: one of them has not seen the other.
    private mutating func findBranches() {
        var successors: [Place: Int] = [:]
        for (index, transaction) in transactions.enumerated() where transaction.isKept {
            for (row, _) in transaction.left {
                guard let number = seen[index][row] else { continue }
                if let other = successors.updateValue(index, forKey: Place(row: row, number: number)) {
                    find(.lostUpdate, other, index)
                }
            }
        }
    }

    private struct Place: Hashable {
        let row: Int
        let number: Int64?
    }

    /// Cycles of "comes before": by what was read, by what was replaced, and by time.
    private mutating func findCycles() {
        let kept = transactions.indices.filter { transactions[$0].isKept }
        var (dependencies, replacements, times) = (Edges(), Edges(), Edges())
        var successors: [Place: Int] = [:]
        for index in kept {
            for (row, _) in transactions[index].left {
                if let number = seen[index][row] { successors[Place(row: row, number: number)] = index }
            }
        }
        for index in kept {
            for (row, number) in seen[index] {
                if let writer = number.flatMap({ writers[$0] }) { dependencies.add(writer, index) }
                if let next = successors[Place(row: row, number: number)], next != index {
                    replacements.add(index, next)
                }
            }
            for other in kept where transactions[index].ended < transactions[other].begun { times.add(index, other) }
        }
        // What is written in one transaction and seen in part has one replacement in its cycle; skew has several.
        let steps = [
            (Anomaly.halfCommit, dependencies), (.writeSkew, dependencies.joined(replacements)),
            (.staleRead, dependencies.joined(replacements).joined(times)),
        ]
        for (anomaly, edges) in steps {
            var shortest: [Int]?
            for (from, to) in replacements.all where from != to {
                guard let path = edges.path(from: to, to: from, shorterThan: shortest?.count) else { continue }
                shortest = path
            }
            if let shortest {
                let story = shortest.sorted { transactions[$0].begun < transactions[$1].begun }.map { transactions[$0] }
                return findings.append(Finding(anomaly: anomaly, story: story))
            }
        }
    }
}

/// Arrows between transactions.
private struct Edges {
    private var targets: [Int: Set<Int>] = [:]

    var all: [(Int, Int)] {
        targets.sorted { $0.key < $1.key }.flatMap { from, to in to.sorted().map { (from, $0) } }
    }

    mutating func add(_ from: Int, _ to: Int) { targets[from, default: []].insert(to) }

    func joined(_ other: Edges) -> Edges {
        var edges = self
        edges.targets.merge(other.targets) { $0.union($1) }
        return edges
    }

    /// The shortest way, its ends included; nil when there is none, or none with fewer stations.
    func path(from start: Int, to end: Int, shorterThan limit: Int?) -> [Int]? {
        var came: [Int: Int] = [start: start]
        var front = [start]
        var length = 1
        while !front.isEmpty, length < limit ?? .max {
            if came[end] != nil {
                var path = [end]
                while let last = path.last, last != start, let before = came[last] { path.append(before) }
                return path
            }
            var next: [Int] = []
            for station in front {
                for target in targets[station] ?? [] where came[target] == nil {
                    came[target] = station
                    next.append(target)
                }
            }
            front = next
            length += 1
        }
        return nil
    }
}
