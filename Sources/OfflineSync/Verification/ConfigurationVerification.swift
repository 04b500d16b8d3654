internal import SyncContract

/// Checks the engine's settings: delta tokens, items to fetch again, the highest number that was used.
enum ConfigurationVerification {
    static func findings(_ reader: inout some StoreReading & ~Copyable) throws -> [StoreFinding] {
        var findings: [StoreFinding] = []
        var seen: Set<[String]> = []
        func report(_ message: String) { findings.append(.queue(message, table: SystemTables.configuration)) }
        try reader.forEach(Query(SystemTables.configuration.name)) { row in
            guard let table = row["table"]?.stringValue, let key = row["key"]?.stringValue,
                let number = row["keyType"]?.int64Value
            else { return report("a setting lacks its table, kind or key") }
            let of = table.isEmpty ? "" : " of table '\(table)'"
            if !seen.insert([table, "\(number)", key]).inserted { report("a setting\(of) is there twice") }
            let value = row["value"]?.stringValue
            // Kinds of a later version are left to it.
            switch ConfigurationTable.KeyType(rawValue: number) {
            case .deltaToken?:
                // What it says is the remote's.
                if value?.isEmpty ?? true {
                    report("a delta token\(of) is empty: the next pull of its query starts from the beginning")
                }
            case .refetch?:
                if key.isEmpty { report("an item\(of) is to be fetched again that has no id") }
            case .highestRemovedNumber?:
                if value.flatMap({ Int64($0) }) ?? 0 < 1 { report("the highest number that was used is not a number") }
            case .highestGroup?:
                if value.flatMap({ Int64($0) }) ?? 0 < 1 { report("the highest number of a group is not a number") }
            case .shownColumns?:
                if value == nil { report("the columns that the server has shown\(of) are not there") }
            case .filledColumns?:
                if value == nil { report("the columns that were filled\(of) are not there") }
            case .itemMemory?:
                if value == nil || key.isEmpty { report("what is remembered of a row\(of) is not there") }
            case .droppedInsert?:
                if value?.isEmpty ?? true || key.isEmpty { report("a dropped insert\(of) does not say of which item") }
            case .cancelledInsert?:
                if value?.isEmpty ?? true { report("an insert\(of) that a deletion has cancelled is not there") }
            case .journalEntry?:
                if Int64(key) == nil || value?.isEmpty ?? true { report("an entry of the journal\(of) is not there") }
            case .sessionSuspension?:
                if value?.isEmpty ?? true { report("what of the session is suspended is not there") }
            case .firstPull?:
                if value.flatMap({ Int($0) }) == nil { report("with which pull the next sync begins is not a number") }
            case .completePull?:
                if value.flatMap({ Int64($0) }) == nil { report("the time of the last pull\(of) is not a number") }
            case .reconciledParameters?:
                if key.isEmpty { report("parameters of a pull\(of) are not there") }
            case .setAside?:
                if value == nil { report("a row\(of) was set aside without a reason") }
            case .purgedRow?:
                if value?.contains(" ") != true { report("a purged row\(of) has neither stamp nor version") }
            case .serverID?, .localID?, .foldedID?, .formerID?:
                if value?.isEmpty ?? true || key.isEmpty {
                    report("an id of a row\(of) that the server has chosen is not there")
                }
            case .stumblingBlocks?:
                if value?.isEmpty ?? true { report("at which changes the last pushes have ended is not there") }
            case .reference?:
                if value?.isEmpty ?? true || key.isEmpty { report("a reference\(of) does not say of what") }
            case .localTable?:
                if table.isEmpty { report("a table that stays on the device has no name") }
            case .fileColumns?:
                if value == nil { report("which columns\(of) name files is not there") }
            case .localColumns?:
                if value == nil { report("which columns\(of) stay on the device is not there") }
            case .reset?:
                if value?.isEmpty ?? true { report("where a reset is is not there") }
            case .freshRow?:
                if key.isEmpty { report("a fresh row\(of) has no id") }
            case .freshCursor?:
                if value?.isEmpty ?? true { report("a cursor of fresh rows\(of) is empty") }
            case .discardedChange?:
                if Int64(key) == nil || value?.isEmpty ?? true {
                    report("a change\(of) that was given up is not there")
                }
            case nil: break
            }
        }
        return findings
    }
}
