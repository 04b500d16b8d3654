extension Report {
    static func writeHead(_ engine: String, _ workload: SyncWorkload, rounds: Int) {
        write(engine)
        write(
            "\(workload.changes) changes, \(workload.rows) rows, \(workload.waiting) waiting, \(rounds) rounds;"
                + " microseconds for each"
        )
        write(syncLine("case", "each", "engine", "floor", "ratio", "spread", "goal"))
        write(String(repeating: "-", count: 79))
    }

    static func write(_ result: SyncMeasurement) {
        write(line(result.name, result.unit, result.elapsed))
        write(line("", "processor", result.processor))
    }

    private static func line(_ name: String, _ unit: String, _ times: SyncMeasurement.Times) -> String {
        syncLine(
            name,
            unit,
            fixed(times.microseconds, digits: 1),
            fixed(times.floorMicroseconds, digits: 1),
            fixed(times.ratio),
            fixed(times.lowestRatio) + "-" + fixed(times.highestRatio),
            times.goal.map { fixed($0) } ?? ""
        )
    }

    private static func syncLine(_ name: String, _ cells: String...) -> String {
        let widths = [10, 11, 11, 7, 12, 6]
        return zip(cells, widths)
            .reduce(name + String(repeating: " ", count: max(22 - name.count, 0))) {
                $0 + String(repeating: " ", count: max($1.1 - $1.0.count, 1)) + $1.0
            }
    }
}
