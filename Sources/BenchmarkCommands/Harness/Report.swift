internal import Foundation

/// Prints results, in at most 80 columns.
enum Report {
    static func writeHead(_ engine: String, rows: Int, rounds: Int) {
        write("\(engine), \(rows) rows, \(rounds) rounds; rates per second")
        write(line("case", "store", "C twin", "ratio", "spread", "goal", "C plain"))
        write(String(repeating: "-", count: 78))
    }

    static func write(_ result: Measurement) {
        write(
            line(
                result.name,
                grouped(result.rate),
                grouped(result.twinRate),
                fixed(result.ratio),
                fixed(result.lowestRatio) + "-" + fixed(result.highestRatio),
                result.goal.map { fixed($0) } ?? "",
                grouped(result.plainRate)
            )
        )
    }

    static func writeJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        write(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    static func write(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    static func fixed(_ value: Double, digits: Int = 2) -> String {
        let scale = pow(10, Double(digits))
        let (whole, part) = Int((value * scale).rounded()).quotientAndRemainder(dividingBy: Int(scale))
        let fraction = String(part)
        return "\(whole)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// A whole number with a comma before every three digits.
    static func grouped(_ value: Double) -> String {
        var digits = String(Int(value.rounded()))
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + groups).joined(separator: ",")
    }

    private static func line(_ name: String, _ cells: String...) -> String {
        let widths = [11, 11, 7, 11, 6, 11]
        return zip(cells, widths)
            .reduce(padded(name, to: 21)) { $0 + String(repeating: " ", count: max($1.1 - $1.0.count, 1)) + $1.0 }
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }
}
