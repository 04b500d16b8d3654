internal import OfflineSync
internal import SeededNumbers
package import SyncContract

/// Devices whose server chooses the ids of lists and of the items in them. One thing happens after the other, or while a
/// request is under way; what is judged is ids: no row twice, every reference to its row, the mapping both ways.
package struct ChosenIDs {
    package static let tables = ["lists", "items"]
        .map { name in
            TableDefinition(
                name,
                columns: [ColumnDefinition("origin", .string), ColumnDefinition("text", .string)]
                    + (name == "items" ? [ColumnDefinition("list", .string, references: "lists")] : []),
                assignsIDs: true
            )
        }

    private let server: ChoosingServer
    private let stores: [any SyncContextDataSource]
    private var contexts: [SyncContext] = []
    private var random: SeededGenerator
    private var count = 0
    /// The device that has made each row, by what the row keeps for ever.
    private var makers: [String: Int] = [:]
    private var deleted: Set<String> = []

    /// Plays a seed on empty stores, and says what went wrong.
    package static func failures(seed: UInt64, stores: [any SyncContextDataSource]) async throws -> [String] {
        var run = ChosenIDs(seed, stores)
        for _ in 0..<60 { try await run.step() }
        run.server.calm()
        try await run.settle()
        return try await run.findings()
    }

    private init(_ seed: UInt64, _ stores: [any SyncContextDataSource]) {
        random = SeededGenerator(seed: seed)
        let server = ChoosingServer(seed: seed &+ 1)
        (self.server, self.stores) = (server, stores)
        contexts = stores.map { SyncContext(store: $0, remote: server) }
    }

    private mutating func step() async throws {
        let device = random.below(stores.count)
        switch random.below(14) {
        case 0...5: try await edit(on: device).perform()
        case 6: contexts[device] = SyncContext(store: stores[device], remote: server)
        case 7:
            let edit = try await edit(on: device)
            server.whileNextIsUnderWay { try await edit.perform() }
            await push(device)
        case 8...10: await push(device)
        default: await pull(device)
        }
    }

    // MARK: What users do

    /// A change that was chosen, and can be made some time later.
    private struct Change: Sendable {
        let context: SyncContext
        let table: String
        let id: String?
        let values: [String: FieldValue]

        func perform() async throws {
            let table = try context.table(table)
            guard let id else {
                try await table.insert(values)
                return
            }
            // It may have been deleted since.
            guard try await table.read(id) != nil else { return }
            if values.isEmpty {
                try await table.delete(id)
            } else {
                try await table.update(Record(id: .string(id), values))
            }
        }
    }

    private mutating func edit(on device: Int) async throws -> Change {
        let context = contexts[device]
        let table = random.pick(["lists", "items", "items"])
        count += 1
        var values: [String: FieldValue] = ["text": .string("text\(count)")]
        if table == "items", let list = random.pickAny(try await rows("lists", on: device)) {
            values["list"] = .string(list.id.stringValue ?? "")
        }
        var known: [Record] = []
        for row in try await rows(table, on: device) where try await isKnown(row, table, to: device) {
            known.append(row)
        }
        guard let row = random.pickAny(known), random.chance(2, of: 3), let origin = row["origin"]?.stringValue else {
            makers["\(count)"] = device
            values["origin"] = .string("\(count)")
            return Change(context: context, table: table, id: nil, values: values)
        }
        if table == "items", random.chance(1, of: 4) {
            values = [:]
            deleted.insert(origin)
        }
        return Change(context: context, table: table, id: row.id.stringValue, values: values)
    }

    /// Whether the device may change a row. While its maker does not know its id, only its content can tell which one it is.
    private func isKnown(_ row: Record, _ table: String, to device: Int) async throws -> Bool {
        guard let maker = makers[row["origin"]?.stringValue ?? ""], maker != device else { return true }
        guard let id = try await contexts[device].table(table).serverID(of: row.id.stringValue ?? "") else {
            return true
        }
        return try await contexts[maker].table(table).id(ofServerID: id) != nil
    }

    private func rows(_ table: String, on device: Int) async throws -> [Record] {
        try await contexts[device].table(table).read(Query(table)).records
            .sorted { ($0["origin"]?.stringValue ?? "") < ($1["origin"]?.stringValue ?? "") }
    }

    /// Pushes; that it may be cut short is what is tried.
    private func push(_ device: Int) async {
        do { _ = try await contexts[device].push() } catch { return }
    }

    private func pull(_ device: Int) async {
        do {
            for table in ["items", "lists"] { _ = try await contexts[device].pull(Query(table), queryID: "all") }
        } catch {
            return
        }
    }

    private mutating func settle() async throws {
        for _ in 0..<8 {
            for context in contexts {
                _ = try await context.push()
                for error in try await context.operationErrors() {
                    try await context.resolve(error, with: .takeServer)
                }
                _ = try await context.push()
                for table in ["items", "lists"] { _ = try await context.pull(Query(table), queryID: "all") }
            }
        }
    }

    // MARK: What is asked at the end

    private func findings() async throws -> [String] {
        var findings: [String] = []
        for table in ["lists", "items"] {
            let origins = server.rows(table).compactMap { $0["origin"]?.stringValue }
            for (origin, rows) in Dictionary(grouping: origins, by: \.self) where rows.count > 1 {
                findings.append("row \(origin) of \(table) is on the server \(rows.count) times")
            }
            let live = server.rows(table).filter { !$0.isDeleted }
            let expected = Dictionary(live.map { ($0["origin"]?.stringValue ?? "", $0) }) { first, _ in first }
            for (device, context) in contexts.enumerated() {
                if try await !context.operations().isEmpty { findings.append("device \(device) still has changes") }
                let local = try await rows(table, on: device)
                if Set(local.map { $0["origin"]?.stringValue ?? "" }) != Set(expected.keys)
                    || local.count != expected.count
                {
                    findings.append("device \(device) has other rows of \(table) than the server")
                }
                for row in local {
                    guard let theirs = expected[row["origin"]?.stringValue ?? ""] else { continue }
                    findings += try await differences(row, theirs, table, context)
                }
            }
        }
        let there = Set(["lists", "items"].flatMap(server.rows).compactMap { $0["origin"]?.stringValue })
        for origin in makers.keys.sorted() where !deleted.contains(origin) && !there.contains(origin) {
            let wasMade = try await wasMade(origin)
            if wasMade { findings.append("row \(origin) is nowhere on the server") }
        }
        return findings
    }

    /// Whether a row was made that was chosen to be: the request during which it was to be made may never have left.
    private func wasMade(_ origin: String) async throws -> Bool {
        for table in ["lists", "items"] {
            for device in contexts.indices {
                if try await rows(table, on: device).contains(where: { $0["origin"]?.stringValue == origin }) {
                    return true
                }
            }
        }
        return false
    }

    private func differences(
        _ row: Record,
        _ theirs: Record,
        _ table: String,
        _ context: SyncContext
    ) async throws -> [String] {
        let (id, serverID) = (row.id.stringValue ?? "", theirs.id.stringValue ?? "")
        var differences: [String] = []
        if try await context.table(table).serverID(of: id) != serverID { differences.append("the server's id") }
        if try await context.table(table).id(ofServerID: serverID) != id { differences.append("the local id") }
        if row["text"] != theirs["text"] { differences.append("the text") }
        if table == "items", let list = row["list"]?.stringValue {
            let known = try await context.table("lists").serverID(of: list)
            if known != theirs["list"]?.stringValue { differences.append("the list") }
        } else if theirs["list"]?.stringValue != nil {
            differences.append("the list, which is missing")
        }
        return differences.map { "row \(theirs["origin"]?.stringValue ?? "") of \(table) differs in \($0)" }
    }
}

extension SeededGenerator {
    fileprivate mutating func pickAny<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }
}
