internal import OfflineSync
internal import SyncContract

/// What is asked at the end, when nothing is under way any more.
extension ChosenIDs {
    func judge() async throws {
        for table in Self.tableNames {
            let rows = server.rows(table)
            for (origin, rows) in Dictionary(grouping: rows, by: { $0["origin"]?.stringValue ?? "" }) {
                let count = ledger.madeAnew.contains(origin) ? rows.filter { !$0.isDeleted }.count : rows.count
                if count > 1 { fail("row \(origin) of \(table) is on the server \(count) times") }
            }
            for device in devices { try await compare(device, table, rows.filter { !$0.isDeleted }) }
        }
        for device in devices {
            let operations = try await device.context.operations()
            if !operations.isEmpty { fail("\(device.name) still has changes of \(operations.map(\.itemID))") }
            for finding in try await device.context.store.verifyQueue() { fail("\(device.name)'s queue: \(finding)") }
        }
        for loss in ledger.losses() { fail(loss) }
    }

    private func compare(_ device: ChosenDevice, _ table: String, _ live: [Record]) async throws {
        let local = try await device.rows(table)
        let theirs = Dictionary(live.map { ($0["origin"]?.stringValue ?? "", $0) }) { first, _ in first }
        let mine = Dictionary(grouping: local) { $0["origin"]?.stringValue ?? "" }
        for origin in Set(theirs.keys).union(mine.keys).sorted() {
            var rows = mine[origin] ?? []
            if let kept = ledger.kept[device.place(origin)] {
                if ledger.madeAnew.contains(origin), rows.count > 1,
                    let index = rows.firstIndex(where: { $0["text"]?.stringValue == kept })
                {
                    // It stays beside the one that somebody else has made anew, under another id.
                    rows.remove(at: index)
                } else if kept == rows.first?["text"]?.stringValue {
                    continue
                }
            }
            if rows.count > 1 { fail("\(device.name) has row \(origin) of \(table) twice") }
            guard let row = rows.first, let other = theirs[origin] else {
                fail("\(device.name) \(rows.isEmpty ? "has not" : "still has") row \(origin) of \(table)")
                continue
            }
            for difference in try await differences(row, other, table, device) {
                fail("\(device.name)'s row \(origin) of \(table) differs in \(difference)")
            }
        }
    }

    private func differences(
        _ row: Record,
        _ theirs: Record,
        _ table: String,
        _ device: ChosenDevice
    ) async throws -> [String] {
        let (id, serverID) = (row.id.stringValue ?? "", theirs.id.stringValue ?? "")
        var differences: [String] = []
        if try await device.context.table(table).serverID(of: id) != serverID { differences.append("the server's id") }
        if try await device.context.table(table).id(ofServerID: serverID) != id { differences.append("the local id") }
        if row["text"] != theirs["text"] { differences.append("the text") }
        if row.version != theirs.version { differences.append("the version") }
        if let list = row["list"]?.stringValue {
            let known = try await device.context.table("lists").serverID(of: list)
            // A list that is sent after all is named so until the row is written again.
            let named = known ?? list
            let other = theirs["list"]?.stringValue
            // One that was made anew is also named by the id that it had.
            let origin = server.list(named)
            let isRenamed = settings.deletesForGood && origin != nil && other.flatMap(server.list) == origin
            let isSame = named == other || isRenamed
            let isAsSent = list == ledger.namedAsHere[row["origin"]?.stringValue ?? ""]
            if !isSame, !isAsSent { differences.append("the list") }
        } else if theirs["list"]?.stringValue != nil {
            differences.append("the list, which is missing")
        }
        return differences
    }
}
