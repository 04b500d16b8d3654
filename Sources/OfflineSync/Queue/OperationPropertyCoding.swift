internal import RecordJSON
internal import SyncContract
internal import SyncMachines

/// What an operation knows beyond the columns of its row, as JSON.
///
/// `type` and `item` are those of the original SDKs. `requests` holds what was sent and may still arrive, each with its
/// type, its version and the row it writes; older versions of this library have kept the rows alone, as `sent`.
struct OperationPropertyCoding {
    private let coding: RecordCoding

    init(_ table: TableDefinition) { coding = RecordCoding(table) }

    /// What an insert knows as long as nothing of it was sent.
    static let plainInsert = Array(#"{"type":0}"#.utf8)

    static func properties(of operation: TableOperation) throws -> [UInt8] {
        let change = operation.change
        if isPlain(change), operation.unknownOutcome == nil { return plainInsert }
        var properties = JSONWriter()
        properties.reserveCapacity(512)
        properties.add("type", change.kind.rawValue)
        if let item = change.deletedRow { try add("item", item, to: &properties) }
        if change.wasSent || !change.sent.isEmpty {
            try properties.add("requests", objects: change.sent, write: write)
        }
        if let base = change.base { try add("base", base, to: &properties) }
        for (name, isSet) in flags where change[keyPath: isSet] { properties.add(name, true) }
        if let kind = change.replacedKind { properties.add("replaced", kind.rawValue) }
        if let failure = operation.unknownOutcome {
            var unknown = JSONWriter()
            if let status = failure.status { unknown.add("status", Int64(status)) }
            if failure.isOfLookUp { unknown.add("lookUp", true) }
            unknown.add("pushes", Int64(failure.pushes))
            properties.add("unknown", json: unknown.object)
        }
        return properties.utf8()
    }

    private static func isPlain(_ change: QueuedChange<Record>) -> Bool {
        change.kind == .insert && !change.wasSent && change.sent.isEmpty && change.base == nil
            && change.deletedRow == nil && change.replacedKind == nil && !change.restores && !change.isBasedOnOlderRow
            && !change.isForced && !change.isUndo && !change.asksForRow
    }

    func read(_ node: JSONNode, into operation: inout TableOperation) throws {
        for (name, flag) in Self.flags where node[name]?.isTrue ?? false { operation.change[keyPath: flag] = true }
        if let item = node["item"] {
            let (row, isWhole) = try coding.fittingRecord(item)
            operation.change.deletedRow = row
            // Where the deletion is taken back the row is asked for.
            if !isWhole { operation.change.asksForRow = true }
        }
        operation.change.sent = sent(node, by: operation.change)
        operation.change.base = node["base"].flatMap(base)
        operation.change.replacedKind = node["replaced"]?.int64Value.flatMap(QueuedChange<Record>.Kind.init)
        operation.unknownOutcome = node["unknown"]
            .map { node in
                TableOperation.UnknownOutcome(
                    status: node["status"]?.int64Value.map(Int.init),
                    isOfLookUp: node["lookUp"]?.isTrue ?? false,
                    pushes: Int(node["pushes"]?.int64Value ?? 0)
                )
            }
        operation.change.hasUnknownOutcome = operation.unknownOutcome != nil
    }

    private static let flags: [(String, any WritableKeyPath<QueuedChange<Record>, Bool> & Sendable)] = [
        ("restores", \.restores), ("olderBase", \.isBasedOnOlderRow), ("forced", \.isForced), ("undo", \.isUndo),
        ("asks", \.asksForRow),
    ]

    /// What was sent, as a JSON array.
    static func requests(_ requests: [SentRequest<Record>]) throws -> String {
        let list = try requests.map { request in
            var json = JSONWriter()
            try write(request, to: &json)
            return json.object
        }
        return "[\(list.joined(separator: ","))]"
    }

    /// Adds what is remembered of a request.
    private static func write(_ request: SentRequest<Record>, to json: inout JSONWriter) throws {
        json.add("type", request.kind.rawValue)
        if let version = request.version { json.add("version", version) }
        if let content = request.content { try add("item", content, to: &json) }
    }

    private static func add(_ name: String, _ row: Record, to json: inout JSONWriter) throws {
        try json.add(name) { json in try RecordCoding.write(row, to: &json) }
    }

    /// What was sent, from a JSON array.
    func requests(_ node: JSONNode) -> [SentRequest<Record>] {
        (node.elements ?? [])
            .map { node in
                SentRequest(
                    node["type"]?.int64Value.flatMap(SentRequest<Record>.Kind.init) ?? .update,
                    content: node["item"].flatMap(base),
                    version: node["version"]?.stringValue
                )
            }
    }

    private func sent(_ node: JSONNode, by change: QueuedChange<Record>) -> [SentRequest<Record>] {
        if let node = node["requests"], node.elements != nil { return requests(node) }
        // What an older version of this library sent is of the kind that the operation has, or had before a deletion.
        var sent = (node["sent"]?.elements ?? [])
            .map { node in
                let isInsert = change.kind == .insert || (change.kind == .delete && change.baseVersion == nil)
                return SentRequest(
                    isInsert ? .insert : .update,
                    content: base(node),
                    version: isInsert ? nil : change.baseVersion
                )
            }
        guard change.wasSent else { return sent }
        if change.kind == .delete {
            sent.append(SentRequest(.delete, version: change.baseVersion))
        } else if sent.isEmpty {
            sent.append(SentRequest(change.kind == .insert ? .insert : .update, version: change.baseVersion))
        }
        return sent
    }

    /// A row of the server; nil when it does not fit the table any more, in which a column may be declared since. Then it
    /// is not known that nobody has changed the row, and a conflict asks.
    private func base(_ node: JSONNode) -> Record? {
        do throws(RecordCodingError) {
            return try coding.record(node)
        } catch {
            return nil
        }
    }
}
