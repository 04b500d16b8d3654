internal import RecordJSON
internal import SyncContract

/// Where the bringing of everything anew is, as the store remembers it.
package enum ResetStage: Sendable, Hashable {
    /// There is nothing to be done.
    case none
    /// It is to be done. From here on nothing is pushed or pulled until the fresh rows have taken the place of those of before.
    case wanted
    /// Fresh rows lie beside those of before.
    case begun
    /// The same, because of the age of what was alone: it may be given up.
    case begunForAge
    /// The fresh rows have taken the place of those of before; nobody was told yet.
    case done(ResetReport)
}

extension ResetStage {
    /// Whether fresh rows lie beside those of before.
    package var isBegun: Bool { self == .begun || self == .begunForAge }

    /// Whether nothing is pushed or pulled until it is done.
    var isOutstanding: Bool { self == .wanted || isBegun }

    static func stored(_ transaction: inout some StoreReading & ~Copyable) throws -> ResetStage {
        switch try ConfigurationTable.value(.reset, &transaction) {
        case nil: return .none
        case "wanted"?: return .wanted
        case "begun"?: return .begun
        case "begunForAge"?: return .begunForAge
        case let text?:
            let node = try JSONNode(parsing: Array(text.utf8))
            var report = ResetReport()
            for (name, path) in ResetReport.numbers { report[keyPath: path] = Int(node[name]?.int64Value ?? 0) }
            return .done(report)
        }
    }

    func store(_ transaction: inout StoreTransaction) throws {
        let value: String?
        switch self {
        case .none: value = nil
        case .wanted: value = "wanted"
        case .begun: value = "begun"
        case .begunForAge: value = "begunForAge"
        case .done(let report):
            var json = JSONWriter()
            for (name, path) in ResetReport.numbers { json.add(name, Int64(report[keyPath: path])) }
            value = json.object
        }
        try ConfigurationTable.setValue(value, .reset, &transaction)
    }
}

extension ResetReport {
    fileprivate static let numbers: [(String, any WritableKeyPath<ResetReport, Int> & Sendable)] = [
        ("waiting", \.waiting), ("recovered", \.recovered), ("settled", \.settled), ("conflicts", \.conflicts),
        ("discarded", \.discarded),
    ]
}
