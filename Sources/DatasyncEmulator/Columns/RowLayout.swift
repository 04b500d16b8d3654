/// How rows of a table are written: its columns in their order, then the system's, as a Datasync server has them.
///
/// Names are encoded once, for a page holds a thousand rows.
struct RowLayout: Sendable {
    /// The columns besides the system's in the order in which they were declared or first seen.
    private(set) var names: [String] = []
    /// For each name, the name as a member and the colon after it.
    private var starts: [[UInt8]] = []

    /// The columns whose instants end in `+00:00`, the system's among them; none where they end in `Z`.
    private let offsetNames: Set<String>

    /// Whether numbers that have no form in JSON are written as texts, such as `"Infinity"`.
    private let namesInfinity: Bool

    init(_ names: [String] = [], offsetNames: Set<String> = [], namesInfinity: Bool = false) {
        self.offsetNames = offsetNames
        self.namesInfinity = namesInfinity
        for name in names { append(name) }
    }

    mutating func append(_ name: String) {
        names.append(name)
        starts.append(Self.start(name))
    }

    private static func start(_ name: String) -> [UInt8] {
        var start: [UInt8] = []
        DotNetJSON.write(name, to: &start)
        return start + [UInt8(ascii: ":")]
    }

    /// Writes a row as an object; false when it holds a number that has no form in JSON.
    func write(_ row: EmulatedRow, to output: inout [UInt8]) -> Bool {
        output.append(UInt8(ascii: "{"))
        for (index, name) in names.enumerated() {
            output.append(contentsOf: starts[index])
            guard Self.write(row.values[name], namesInfinity, to: &output) else { return false }
            if offsetNames.contains(name) { Self.useOffset(&output) }
            output.append(UInt8(ascii: ","))
        }
        for (index, member) in SystemMember.allCases.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            output.append(contentsOf: Self.systemStarts[index])
            member.write(row, to: &output)
            if offsetNames.contains(member.rawValue) { Self.useOffset(&output) }
        }
        output.append(UInt8(ascii: "}"))
        return true
    }

    func selection(_ names: [String]) -> Selection {
        Selection(names, offsetNames, namesInfinity)
    }

    /// Writes the zone of the instant at the end as an offset.
    private static func useOffset(_ output: inout [UInt8]) {
        guard output.suffix(2).elementsEqual("Z\"".utf8) else { return }
        output.removeLast(2)
        output.append(contentsOf: "+00:00\"".utf8)
    }

    private static let systemStarts = SystemMember.allCases.map { start($0.rawValue) }

    private static func write(_ value: JSONValue?, _ namesInfinity: Bool, to output: inout [UInt8]) -> Bool {
        if case .double(let number) = value, !number.isFinite {
            guard namesInfinity else { return false }
            DotNetJSON.write(number < 0 ? "-Infinity" : "Infinity", to: &output)
            return true
        }
        DotNetJSON.write(value ?? .null, to: &output)
        return true
    }

    /// The system's members of a row in the order in which they follow its columns.
    enum SystemMember: String, CaseIterable {
        case updatedAt
        case version
        case id
        case deleted

        func write(_ row: EmulatedRow, to output: inout [UInt8]) {
            switch self {
            case .updatedAt:
                output.append(UInt8(ascii: "\""))
                Timestamp.write(milliseconds: row.updatedAt, to: &output)
                output.append(UInt8(ascii: "\""))
            case .version: DotNetJSON.write(row.version, to: &output)
            case .id: DotNetJSON.write(row.id.text, to: &output)
            case .deleted: output.append(contentsOf: (row.deleted ? "true" : "false").utf8)
            }
        }
    }

    /// The members that a selection names, in its order.
    struct Selection {
        private let members: [(start: [UInt8], name: String, system: SystemMember?)]
        private let offsetNames: Set<String>
        private let namesInfinity: Bool

        /// Of a name that occurs twice the first place counts.
        fileprivate init(_ names: [String], _ offsetNames: Set<String>, _ namesInfinity: Bool) {
            self.offsetNames = offsetNames
            self.namesInfinity = namesInfinity
            var seen: Set<String> = []
            members = names.filter { seen.insert($0).inserted }
                .map { (RowLayout.start($0), $0, SystemMember(rawValue: $0)) }
        }

        /// As `RowLayout.write`.
        func write(_ row: EmulatedRow, to output: inout [UInt8]) -> Bool {
            output.append(UInt8(ascii: "{"))
            for (index, (start, name, system)) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                output.append(contentsOf: start)
                if let system {
                    system.write(row, to: &output)
                } else if !RowLayout.write(row.values[name], namesInfinity, to: &output) {
                    return false
                }
                if offsetNames.contains(name) { RowLayout.useOffset(&output) }
            }
            output.append(UInt8(ascii: "}"))
            return true
        }
    }
}

extension Timestamp {
    /// Writes `yyyy-MM-ddTHH:mm:ss.fffZ`, digit by digit: every row has one.
    static func write(milliseconds: Int64, to output: inout [UInt8]) {
        let (ticks, overflow) = milliseconds.multipliedReportingOverflow(by: ticksPerMillisecond)
        let fields = fields(ticks: overflow ? 0 : ticks)
        let parts: [(Int64, Int64, Unicode.Scalar)] = [
            (fields.year, 1_000, "-"), (fields.month, 10, "-"), (fields.day, 10, "T"), (fields.hour, 10, ":"),
            (fields.minute, 10, ":"), (fields.second, 10, "."), (fields.millisecond, 100, "Z"),
        ]
        for (value, highest, separator) in parts {
            var place = highest
            while place > 0 {
                output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / place % 10))
                place /= 10
            }
            output.append(UInt8(ascii: separator))
        }
    }
}
