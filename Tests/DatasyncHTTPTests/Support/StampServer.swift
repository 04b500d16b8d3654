import Foundation
import HTTPTransport
import SeededNumbers
import SyncContract
import Synchronization

/// A server of protocol 3 with one table and a clock of its own, which knows the queries that pulls ask and no others.
///
/// Rows are stamped when a write begins and become visible when it is committed; stamps may be finer than answers show.
/// Time passes with requests only.
final class StampServer: ClientTransport {
    struct Row: Sendable, Hashable {
        var id: String
        /// In steps of 100 ns.
        var stamp: Int64
        var version: Int
        var isDeleted = false
    }

    struct Settings: Sendable {
        /// In steps of 100 ns: 10,000 for whole milliseconds.
        var stampStep: Int64 = 10_000
        var pageSize = 100
        var maximumTop = 128_000
        /// The longest time between stamp and commit, in milliseconds.
        var commitDelay: Int64 = 0
        var tellsTime = true
        /// By how much the clock that stamps is ahead of the one that answers, in milliseconds.
        var stampLead: Int64 = 0
        var tellsEnd = true
        var ignoresCaseOfIDs = false
        /// The longest time a request takes, in milliseconds, half of it after the rows were read.
        var latency: Int64 = 0
        /// Whether filters are taken and not applied.
        var ignoresFilters = false
        /// Whether rows come in the order in which they were written first, whatever was asked for.
        var ignoresOrder = false
    }

    struct State {
        var settings: Settings
        var random: SeededGenerator
        /// In steps of 100 ns.
        var now: Int64 = 17_600_000_000_000_000
        var rows: [String: Row] = [:]
        var pending: [(commit: Int64, row: Row)] = []
        var writes = 0
        var requests: [String] = []
        var rowsSent = 0
        /// Rows without a stamp, which come last, as on PostgreSQL.
        var unstamped: Set<String> = []
        /// Rows that cannot be written as JSON.
        var unreadable: Set<String> = []
        /// Rows that are taken out of a page after it was read and counted.
        var hidden: Set<String> = []
        /// When a row was written first.
        var arrivals: [String: Int] = [:]
        /// How long an answer takes behind its head, in milliseconds.
        var bodyDelay: Int64 = 0
        var duringRequest: (@Sendable (inout State) -> Void)?

        init(_ settings: Settings, seed: UInt64) {
            self.settings = settings
            random = SeededGenerator(seed: seed)
        }
    }

    private let state: Mutex<State>

    init(_ settings: Settings = Settings(), seed: UInt64 = 1) { state = Mutex(State(settings, seed: seed)) }

    func with<Value: Sendable>(_ body: (inout State) -> sending Value) -> Value { state.withLock { body(&$0) } }

    /// The server's time as a clock to measure requests by.
    func instant() -> ContinuousClock.Instant {
        Self.origin.advanced(by: .nanoseconds(with { $0.now - 17_600_000_000_000_000 } * 100))
    }

    private static let origin = ContinuousClock.now

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try state.withLock { try $0.answer(request) }
    }
}

extension StampServer.State {
    /// Lets time pass and commits what is due.
    mutating func pass(milliseconds: Int64) {
        now += milliseconds * 10_000
        for write in pending where write.commit <= now { rows[write.row.id] = write.row }
        pending.removeAll { $0.commit <= now }
    }

    /// Writes a row: stamps it now, and commits it some time later.
    mutating func write(_ id: String, isDeleted: Bool = false, delay: Int64? = nil, stamp: Int64? = nil) {
        guard !pending.contains(where: { $0.row.id == id }) else { return }
        writes += 1
        arrivals[id] = arrivals[id] ?? writes
        let stamped = stamp ?? now + settings.stampLead * 10_000
        let row = StampServer.Row(
            id: id,
            stamp: stamped - stamped % settings.stampStep,
            version: writes,
            isDeleted: isDeleted
        )
        let delay = delay ?? (settings.commitDelay > 0 ? Int64.random(in: 0...settings.commitDelay, using: &random) : 0)
        if delay == 0 { rows[id] = row } else { pending.append((now + delay * 10_000, row)) }
    }

    /// Gives a row another id, and leaves everything else of it as it is.
    mutating func rename(_ id: String, to other: String) {
        guard var row = rows.removeValue(forKey: id) else { return }
        row.id = other
        rows[other] = row
        arrivals[other] = arrivals.removeValue(forKey: id)
    }

    /// One of the writers inserts, changes or deletes a row.
    mutating func writeAnything() {
        let known = rows.count + pending.count
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: write("\(["r", "R"].randomElement(using: &random) ?? "r")\(known)-\(writes)")
        default:
            guard let id = rows.keys.sorted().randomElement(using: &random) else { return }
            write(id, isDeleted: Int.random(in: 0..<6, using: &random) == 0)
        }
    }

    mutating func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        let latency = settings.latency > 0 ? Int64.random(in: 0...settings.latency, using: &random) : 0
        pass(milliseconds: latency - latency / 2)
        let parts = URLComponents(string: request.path ?? "")
        let options = Dictionary((parts?.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
        requests.append(options["$filter"] ?? "")
        let top = options["$top"].flatMap { Int($0) }
        if let top, top > settings.maximumTop {
            let text = "The limit of '\(settings.maximumTop)' for Top query has been exceeded."
            return response(
                400,
                #"{"code":"400","message":"\#(text) The value from the incoming request is '\#(top)'."}"#
            )
        }
        let condition = try condition(options["$filter"])
        var matching = settings.ignoresFilters ? Array(rows.values) : rows.values.filter(condition)
        sort(&matching, by: options["$orderby"] ?? "id")
        let skipped = options["$skip"].flatMap { Int($0) } ?? 0
        let read = matching.dropFirst(skipped).prefix(min(top ?? .max, settings.pageSize))
        let page = read.filter { !hidden.contains($0.id) }
        rowsSent += page.count
        if options["$select"] == nil, page.contains(where: { unreadable.contains($0.id) }) { return response(500, "") }
        duringRequest?(&self)
        pass(milliseconds: latency / 2)
        let items = page.map { row in
            let stamp = Timestamp(milliseconds: row.stamp / 10_000).text
            let updatedAt = unstamped.contains(row.id) ? "null" : #""\#(stamp)""#
            return #"{"id":"\#(row.id)","updatedAt":\#(updatedAt),"version":"\#(row.version)","#
                + #""deleted":\#(row.isDeleted)}"#
        }
        let isLast = skipped + read.count >= matching.count
        let list = "[" + items.joined(separator: ",") + "]"
        defer { pass(milliseconds: bodyDelay) }
        guard settings.tellsEnd else { return response(200, list) }
        let link = isLast ? "null" : #""$filter=x&$skip=\#(skipped + read.count)""#
        return response(200, #"{"items":\#(list),"count":\#(matching.count),"nextLink":\#(link)}"#)
    }

    private func response(_ status: Int, _ body: String) -> HTTPResponse {
        var fields = HTTPFields()
        if settings.tellsTime {
            // Kestrel looks at its clock once a second.
            fields[.date] = Date(timeIntervalSince1970: Double(now / 10_000_000)).httpText
        }
        return HTTPResponse(status: .init(code: status), headerFields: fields, body: Array(body.utf8))
    }

    private func sort(_ rows: inout [StampServer.Row], by order: String) {
        guard !settings.ignoresOrder else { return rows.sort { arrivals[$0.id] ?? 0 < arrivals[$1.id] ?? 0 } }
        // Read once: there are many comparisons, and a test has many requests.
        let (isByStamp, descends) = (order.hasPrefix("updatedAt"), order.hasSuffix("desc"))
        let (unstamped, ignoresCase) = (unstamped, settings.ignoresCaseOfIDs)
        rows.sort { left, right in
            if isByStamp, unstamped.contains(left.id) != unstamped.contains(right.id) {
                return unstamped.contains(right.id) != descends
            }
            if isByStamp, left.stamp != right.stamp { return (left.stamp < right.stamp) != descends }
            return ignoresCase ? left.id.lowercased() < right.id.lowercased() : left.id < right.id
        }
    }

    private func key(_ id: String) -> String { settings.ignoresCaseOfIDs ? id.lowercased() : id }

    /// Conditions as the adapter writes them, joined by `and`.
    private func condition(_ filter: String?) throws -> (StampServer.Row) -> Bool {
        guard let filter else { return { _ in true } }
        let conditions = try filter.components(separatedBy: " and ")
            .map { condition -> (StampServer.Row) -> Bool in
                let words = condition.trimmingCharacters(in: ["(", ")"]).split(separator: " ", maxSplits: 2)
                    .map(String.init)
                let text = words[2].trimmingCharacters(in: ["'"])
                let (folded, instant, unstamped) = (key(text), Self.steps(text), unstamped)
                switch (words[0], words[1]) {
                case ("id", "gt"): return { key($0.id) > folded }
                case ("id", "le"): return { key($0.id) <= folded }
                case ("id", "eq"): return { key($0.id) == folded }
                case ("updatedAt", "eq") where text == "null": return { unstamped.contains($0.id) }
                case ("updatedAt", "ge"): return { $0.stamp >= instant && !unstamped.contains($0.id) }
                case ("updatedAt", "lt"): return { $0.stamp < instant && !unstamped.contains($0.id) }
                default: throw TransportError(.invalidRequest, "unknown condition \(condition)", fate: .notSent)
                }
            }
        return { row in conditions.allSatisfy { $0(row) } }
    }

    private static func steps(_ literal: String) -> Int64 {
        let text = literal.replacing("cast(", with: "").split(separator: ",").first.map(String.init) ?? ""
        return Timestamp(text).map { $0.milliseconds * 10_000 } ?? .max
    }
}

extension Date {
    /// The form of RFC 9110; nobody looks at the day of the week.
    var httpText: String {
        let parts = formatted(.iso8601).split { "-T:Z".contains($0) }.map(String.init)
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let month = months[(Int(parts[1]) ?? 1) - 1]
        return "Sun, \(parts[2]) \(month) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
    }
}
