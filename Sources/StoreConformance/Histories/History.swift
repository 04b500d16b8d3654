internal import SyncContract

/// What clients did to rows with one number each, and what they saw.
///
/// Every number is written once, so that a number which was read says who wrote it. Whoever writes a row has read it before
/// in the same transaction: so the numbers of a row are a chain.
struct History: Sendable {
    /// A row that is read or written, with its number; nil where there is no row.
    enum Step: Sendable, Hashable {
        case read(row: Int, Int64?)
        case wrote(row: Int, Int64)
    }

    /// What one closure did.
    struct Transaction: Sendable {
        /// Which of the clients ran it.
        var client: Int
        /// Which of its transactions it is.
        var number: Int
        /// When the call began and when it returned, in the order in which all calls did so.
        var begun = 0
        var ended = 0
        var steps: [Step] = []
        /// Whether it was kept; false for one that threw.
        var isKept = true

        /// The numbers that it left in rows, in the order of the first write to each.
        var left: [(row: Int, number: Int64)] {
            var left: [(row: Int, number: Int64)] = []
            for case .wrote(let row, let number) in steps {
                if let index = left.firstIndex(where: { $0.row == row }) {
                    left[index].number = number
                } else {
                    left.append((row, number))
                }
            }
            return left
        }
    }

    var transactions: [Transaction]
}

extension History.Transaction: CustomStringConvertible {
    /// `client 2's 3rd (kept): reads a = 5, writes a = 7`.
    var description: String {
        let words = steps.map { step in
            switch step {
            case .read(let row, let number): "reads \(History.name(row)) = \(number.map(String.init) ?? "none")"
            case .wrote(let row, let number): "writes \(History.name(row)) = \(number)"
            }
        }
        return "client \(client), transaction \(number)\(isKept ? "" : " (threw)"): \(words.joined(separator: ", "))"
    }
}

extension History {
    /// The id of a row.
    static func name(_ row: Int) -> String { "r\(row)" }
}
