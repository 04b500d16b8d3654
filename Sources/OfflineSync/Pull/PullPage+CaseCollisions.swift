internal import RemoteContract
internal import SyncContract

extension PullPage {
    /// This page without rows that the server keeps apart from local ones and the table takes for the same; they are set
    /// aside. See `IDCaseCollisions`.
    func settingAsideCaseCollisions(
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws -> PullPage {
        guard table.idComparison == .asciiCaseInsensitive else { return self }
        var page = self
        page.records = []
        for record in records {
            let local = try transaction.record(record.id, in: table.name)
            if let local, let id = record.id.stringValue, let localID = local.id.stringValue,
                IDCaseCollisions.isSuspected(record, besides: local, in: table)
            {
                page.setAside.append(SetAsideRow(id: id, reason: IDCaseCollisions.reason("'\(localID)'", table)))
            } else {
                page.records.append(record)
            }
        }
        return page
    }
}
