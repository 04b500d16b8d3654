internal import SyncContract

/// The rows that were changed together, in the order of their first changes.
struct ChangedGroup {
    struct Member {
        let key: RowKey
        /// What was written into the row.
        let tokens: [String]
    }

    let device: Int
    let members: [Member]
    /// Rows that other groups have changed in the opposite order, so that none of them can be first.
    var unordered: Set<Set<RowKey>> = []
    /// Rows to which others refer that wait: they go first, wherever they stand.
    var referredTo: Set<RowKey> = []
}

/// What was changed together arrives in its order.
extension Ledger {
    /// Takes note of a group that a user wrote: of rows in their order, and of the tokens that it wrote, which are the latest.
    func group(_ rows: [RowKey], _ tokens: some Sequence<String>, by device: Int, _ after: StoreSnapshot) {
        let written = Dictionary(grouping: tokens) { edits[$0]?.place.key }
        let members = rows.compactMap { key in written[key].map { ChangedGroup.Member(key: key, tokens: $0) } }
        if members.count > 1 { groups.append(ChangedGroup(device: device, members: members)) }
        noteCircles(of: device, after)
    }

    /// Takes note of what is in no order any more.
    func noteCircles(of device: Int, _ after: StoreSnapshot) {
        let circles = Self.circles(in: after)
        let referredTo = Self.referredTo(in: after)
        for index in groups.indices where groups[index].device == device {
            groups[index].unordered.formUnion(circles)
            groups[index].referredTo.formUnion(referredTo)
        }
    }

    /// The lists to which rows refer that wait.
    private static func referredTo(in snapshot: StoreSnapshot) -> Set<RowKey> {
        let ids = snapshot.operations.keys.compactMap { snapshot.rows[$0]?["list"]?.stringValue?.lowercased() }
        return Set(snapshot.rows.filter { $0.key.table == "lists" && ids.contains($0.key.id.lowercased()) }.keys)
    }

    /// The pairs of rows that groups have changed in opposite orders, directly or through others, as far as they wait.
    private static func circles(in snapshot: StoreSnapshot) -> Set<Set<RowKey>> {
        var changes: [Substring: [(position: Int, key: RowKey)]] = [:]
        for (key, operation) in snapshot.operations {
            for group in operation["groups"]?.stringValue?.split(separator: " ") ?? [] {
                let parts = group.split(separator: ".")
                guard parts.count == 4, let first = Int(parts[1]), let last = Int(parts[2]) else { continue }
                changes[parts[0], default: []] += [(first, key), (last, key)]
            }
        }
        var after: [RowKey: Set<RowKey>] = [:]
        for changes in changes.values {
            let keys = changes.sorted { $0.position < $1.position }.map(\.key)
            for (key, next) in zip(keys, keys.dropFirst()) where key != next { after[key, default: []].insert(next) }
        }
        func reached(from key: RowKey) -> Set<RowKey> {
            var reached: Set<RowKey> = []
            var open = [key]
            while let key = open.popLast() {
                for next in after[key] ?? [] where reached.insert(next).inserted { open.append(next) }
            }
            return reached
        }
        let reach = Dictionary(uniqueKeysWithValues: after.keys.map { ($0, reached(from: $0)) })
        var circles: Set<Set<RowKey>> = []
        for (key, others) in reach {
            for other in others where other != key && reach[other]?.contains(key) == true {
                circles.insert([key, other])
            }
        }
        return circles
    }

    /// What speaks against a request that a device sends now: something earlier in a group has not arrived.
    func objections(to message: Message, writing key: RowKey) -> [String] {
        let written: [String]
        switch message.request {
        case .insert(let record), .update(let record, _, _):
            written = WorldSettings.columns.compactMap { record[$0]?.stringValue }
        case .delete(_, _, let deletion): written = [deletion]
        case .tombstone, .undelete, .record, .confirm, .page: return []
        }
        // What has left before is sent again whatever was taken back meanwhile.
        let new = written.filter {
            edits[$0]?.place.device == message.device && !hasArrived($0) && !departed.contains($0)
        }
        guard !new.isEmpty else { return [] }
        for group in groups where group.device == message.device {
            guard
                let index = group.members.firstIndex(where: {
                    $0.key == key && !$0.tokens.allSatisfy { !new.contains($0) }
                })
            else { continue }
            // What its insert meets on the server makes it a change, which is sent at once.
            if group.referredTo.contains(key) { continue }
            for earlier in group.members[..<index] where !group.unordered.contains([earlier.key, key]) {
                guard let token = earlier.tokens.first(where: { !isSettled($0) }) else { continue }
                return [
                    "\(message.description) leaves before \(token) of \(earlier.key), which its group has changed first"
                ]
            }
        }
        departed.formUnion(new)
        return []
    }

    private func hasArrived(_ token: String) -> Bool {
        guard let edit = edits[token] else { return false }
        return server.history[edit.place.key]?.history.contains { $0.content.tokens.contains(token) } ?? false
    }

    /// Whether nothing of an edit waits any more: it has arrived, was given up, or what took its place is settled.
    private func isSettled(_ token: String) -> Bool {
        guard let edit = edits[token], !edit.isGivenUp, !edit.isCancelled, !edit.hasMetNothing, !hasArrived(token)
        else {
            return true
        }
        if edit.isDeletion {
            // There was nothing to delete, at some time since.
            guard let row = server.row(edit.place.key), row.removals.isEmpty else { return true }
            if row.history.contains(where: { $0.content.deletion != nil && $0.sequence >= edit.knownSequence }) {
                return true
            }
        }
        guard edit.isReplaced else { return false }
        return edits.values.contains { later in
            later.place == edit.place && later.follows.contains(token) && isSettled(later.token)
        }
    }
}
