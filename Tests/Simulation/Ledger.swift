internal import RemoteContract
internal import SyncContract

/// What users did and decided, and what they knew then: by this is judged what becomes of it.
///
/// Every edit writes a value of its own, its token, into a column, and so does every deletion into the row. An edit
/// follows what it replaced before the user's eyes. What the server has may be replaced by what follows it, by what
/// somebody decided in knowledge of it, and by what was there before something that was given up.
final class Ledger {
    /// A row on a device.
    struct Place: Hashable {
        let device: Int
        let key: RowKey
    }

    struct Edit {
        let token: String
        let place: Place
        let isDeletion: Bool
        /// What it replaced.
        var follows: Set<String>
        /// What of the same device it was the first to replace.
        var replaces: [String] = []
        /// Whether the same device has replaced it by something later.
        var isReplaced = false
        /// Whether it and what it replaced have cancelled out before anything was sent: nothing waits any more.
        var isCancelled = false
        /// Whether its user has given it up.
        var isGivenUp = false
        /// Whether it was given up before anything showed that it had arrived: then it must not come back.
        var mustNotReturn = false
        /// Whether this is a deletion that no user has asked for, but the way to take back what was given up.
        var isCompensation = false
        /// Whether this is a deletion of what was not there: the server has told its device so.
        var hasMetNothing = false
        /// Whether this is a deletion that was decided on over a deletion that was shown.
        var isOverDeletion = false
        /// The place of the server's write that its user knew.
        var knownSequence = 0
    }

    private(set) var edits: [String: Edit] = [:]
    /// What was changed together, in its order.
    var groups: [ChangedGroup] = []
    /// What has left with everything before it in its group settled.
    var departed: Set<String> = []
    /// The tokens of edits in their order.
    private(set) var order: [String] = []
    let server: SimulatedServer

    /// What a device decided: a token goes over others.
    private var decisions: [Int: [String: Set<String>]] = [:]
    /// What a device has taken in by merging: whoever has seen only what was before has not seen that.
    private var takenIn: [Int: Set<String>] = [:]
    /// Rows that a device decided to write over whatever the server has, and of which nobody has told it what that is.
    private var forced: Set<Place> = []
    /// The version that such a device was told of first: nothing else goes without a word.
    private var goneOver: [Place: String] = [:]
    /// What a device has edited since nothing waited for the row.
    private var open: [Place: Set<String>] = [:]
    private var lastDeletion: [Place: String] = [:]
    /// The deletions that a device was told of.
    private var seenDeletions: [Place: Set<String>] = [:]
    private var received: [Int: Set<String>] = [:]

    init(_ server: SimulatedServer) { self.server = server }

    private var settings: WorldSettings { server.settings }

    // MARK: Edits

    /// Takes note of what a user changed.
    ///
    /// - Parameters:
    ///   - device: Whose.
    ///   - before: The store before.
    ///   - after: The store after.
    ///   - seen: What was before the user's eyes of one row when that is something else than the row of the store.
    func change(
        by device: Int,
        from before: StoreSnapshot,
        to after: StoreSnapshot,
        seen: (key: RowKey, row: Record)? = nil
    ) {
        for key in settings.rows {
            let place = Place(device: device, key: key)
            let old = before.rows[key]
            let new = after.rows[key]
            if old == nil, new == nil, before.operations[key] == nil, after.operations[key] != nil {
                // What is not here is deleted whatever it is.
                delete(at: place, follows: [])
                forced.insert(place)
            }
            let hasEnded = before.operations[key] != nil && before.operations[key]?.id != after.operations[key]?.id
            if hasEnded { for token in open[place] ?? [] { edits[token]?.isCancelled = true } }
            guard old != new else { continue }
            if let waiting = before.operations[key] {
                // What is changed later goes over what was named by then, and over nothing else.
                let mine = old.map { tokens($0) } ?? lastDeletion[place].map { [$0] } ?? []
                goesOver(waiting["baseVersion"]?.stringValue, with: mine, at: place)
                forced.remove(place)
            } else {
                open[place] = []
                forced.remove(place)
                goneOver[place] = nil
            }
            // What a rule deletes with it is deleted as it is here.
            let seen = seen?.key == key ? seen?.row : nil
            let known = seen.map { seen in
                self.tokens(seen) + tokens(old).filter { edits[$0]?.place.device == device }
                    + ownTokens(after: seen.version, at: place)
            }
            if let new {
                let deletions = old == nil ? Array(seenDeletions[place] ?? []) : []
                for name in WorldSettings.columns {
                    guard let token = new[name]?.stringValue, token != old?[name]?.stringValue, edits[token] == nil
                    else { continue }
                    add(token, at: place, follows: (known ?? [old?[name]?.stringValue].compactMap(\.self)) + deletions)
                }
            } else {
                delete(at: place, follows: known ?? tokens(old), version: (seen ?? old)?.version)
            }
            if hasEnded, new == nil { for token in open[place] ?? [] { edits[token]?.isCancelled = true } }
        }
    }

    private func add(
        _ token: String,
        at place: Place,
        isDeletion: Bool = false,
        follows: [String],
        version: String? = nil
    ) {
        edits[token] = Edit(
            token: token,
            place: place,
            isDeletion: isDeletion,
            follows: Set(follows),
            knownSequence: server.history[place.key]?.version(version)?.sequence ?? 0
        )
        order.append(token)
        open[place, default: []].insert(token)
        for earlier in follows where edits[earlier]?.place.device == place.device {
            guard edits[earlier]?.isReplaced == false else { continue }
            edits[earlier]?.isReplaced = true
            edits[token]?.replaces.append(earlier)
        }
    }

    @discardableResult
    private func delete(at place: Place, follows: [String], version: String? = nil) -> String {
        let token = "†\(order.count)"
        add(token, at: place, isDeletion: true, follows: follows, version: version)
        lastDeletion[place] = token
        seenDeletions[place, default: []].insert(token)
        return token
    }

    /// The deletion that a request of a device carries.
    func deletion(of key: RowKey, by device: Int) -> String {
        lastDeletion[Place(device: device, key: key)] ?? "†nobody"
    }

    /// What a device has written since a version: own writes are one chain with it, also when they were purged. A row of
    /// others ends it, unless it was decided to go over that one, and not to take it in.
    private func ownTokens(after version: String?, at place: Place) -> [String] {
        guard let history = server.history[place.key]?.history,
            let first = history.lastIndex(where: { $0.number == version })
        else { return [] }
        let decided = (decisions[place.device] ?? [:]).values.reduce(into: Set<String>()) { $0.formUnion($1) }
        let goneOver = decided.subtracting(takenIn[place.device] ?? [])
        return history[(first + 1)...]
            .prefix { $0.author == place.device || goneOver.isSuperset(of: $0.content.tokens) }
            .filter { $0.author == place.device }
            .flatMap(\.content.tokens)
    }

    private func tokens(_ row: Record?) -> [String] {
        WorldSettings.columns.compactMap { row?[$0]?.stringValue }
    }

    // MARK: What devices are told

    func receive(_ result: Result<ServerAnswer, any Error>, of message: Message) {
        var records: [Record] = []
        if case .success = result { meetNothing(message) }
        switch result {
        case .success(.record(let record)): records = [record]
        case .success(.found(let record)): records = [record].compactMap(\.self)
        case .success(.page(let page)): records = page.records
        case .success(.deletion):
            if case .delete = message.request, let key = message.key(settings),
                let token = server.history[key]?.current.content.deletion
            {
                seenDeletions[Place(device: message.device, key: key), default: []].insert(token)
            }
        case .success(.confirmed): break
        case .failure(let error): records = [(error as? RemoteError)?.serverRecord].compactMap(\.self)
        }
        // What does not fit is not shown. Of what a device has written it knows all the same what it is.
        if case .success(.record) = result {} else { records.removeAll(where: \.isUnfit) }
        for record in records {
            received[message.device, default: []].formUnion(tokens(record))
            let key = settings.key(record.id.stringValue ?? "", in: message.table)
            if let token = deletion(shownBy: record, of: key) {
                seenDeletions[Place(device: message.device, key: key), default: []].insert(token)
            }
        }
    }

    /// The server has told a device that there is no such row: its deletion has nothing more to do. A row that was removed
    /// without a trace is one that it has seen deleted, as far as anybody can tell: what it makes anew goes over what others
    /// have made and deleted under the id since, as after a deletion that was shown.
    private func meetNothing(_ message: Message) {
        guard message.hasMetNothing, let key = message.key(settings) else { return }
        edits[deletion(of: key, by: message.device)]?.hasMetNothing = true
        guard server.history[key]?.removals.isEmpty == false else { return }
        seenDeletions[Place(device: message.device, key: key), default: []].insert("†removed")
    }

    private func deletion(shownBy record: Record, of key: RowKey) -> String? {
        guard record.isDeleted else { return nil }
        return server.history[key]?.version(record.version)?.content.deletion
    }

    // MARK: Decisions

    /// A device that may write over whatever the server has names what that is: from now on that was decided on, and what
    /// is edited later comes after it. Nothing else on the server does.
    func goesOver(_ version: String?, in key: RowKey, with message: Message) {
        // What is to be brought back is written to the tombstone first.
        let mine = [message.request.deletion].compactMap(\.self) + tokens(message.request.row)
        goesOver(version, with: mine, at: Place(device: message.device, key: key))
    }

    private func goesOver(_ version: String?, with mine: [String], at place: Place) {
        guard let version, let theirs = server.history[place.key]?.version(version)?.content,
            forced.remove(place) != nil
        else { return }
        goneOver[place] = version
        for token in mine { decisions[place.device, default: [:]][token, default: []].formUnion(theirs.tokens) }
    }

    /// A user keeps the local row, which is nil for a deletion, over what the server has as the user was told, which is nil
    /// when nobody could tell; a merge takes that in.
    func keep(_ row: Record?, over serverRow: Record?, in key: RowKey, by device: Int, isMerged: Bool = false) {
        let place = Place(device: device, key: key)
        guard let serverRow else {
            _ = forced.insert(place)
            return
        }
        let theirs = self.deletion(shownBy: serverRow, of: key).map { [$0] } ?? tokens(serverRow)
        if isMerged { takenIn[device, default: []].formUnion(theirs) }
        let deletion = deletion(of: key, by: device)
        if row == nil, serverRow.isDeleted { edits[deletion]?.isOverDeletion = true }
        // A deletion that is taken back leaves what it replaced, over the same row.
        let mine = row.map { tokens($0) } ?? [deletion] + (edits[deletion]?.follows ?? [])
        for token in mine { decisions[device, default: [:]][token, default: []].formUnion(theirs) }
    }

    /// A user gives up what waits for a row: the operation as it is stored, and the local row. What its base has, was taken.
    func giveUp(_ key: RowKey, _ operation: Record, _ given: Record?, by device: Int) {
        // It is taken back already.
        guard !operation.isTakingBack else { return }
        let place = Place(device: device, key: key)
        let base = server.history[key]?.version(operation["baseVersion"]?.stringValue)
        let taken = Set(base?.content.tokens ?? [])
        // What went over the base by a decision that is given up with the rest is taken back, too.
        for token in taken { decisions[device, default: [:]][token, default: []].formUnion(tokens(given)) }
        let edited = (open[place] ?? []).subtracting(taken)
        for token in edited {
            edits[token]?.isGivenUp = true
            if !(received[device]?.contains(token) ?? false) { edits[token]?.mustNotReturn = true }
        }
        // What may have arrived has to be taken back.
        // A row that was to be brought back, or made anew on a server that had none any more, is deleted again as a whole.
        let hasHadNone = settings.losesHistory || server.history[key]?.removals.isEmpty == false
        let isMadeAnew = operation["baseVersion"]?.stringValue == nil && hasHadNone
        let restored = base?.content.deletion == nil && !isMadeAnew ? [] : tokens(given)
        let deletion = delete(at: place, follows: edited.sorted() + restored)
        edits[deletion]?.isGivenUp = true
        edits[deletion]?.isCompensation = true
        open[place] = []
    }

    /// What was to take a change back ends without having done so: its deletion may arrive all the same.
    func leaveUndone(_ key: RowKey, by device: Int) {
        edits[deletion(of: key, by: device)]?.isCompensation = false
    }

    /// A user wants deleted what a deletion was only to take back.
    func wantDeletion(of key: RowKey, by device: Int) {
        let place = Place(device: device, key: key)
        guard let token = lastDeletion[place] else { return }
        edits[token]?.isGivenUp = false
        edits[token]?.isCompensation = false
        open[place, default: []].insert(token)
    }

    /// A user drops what waits for a row, which stays as it is here.
    func drop(_ key: RowKey, by device: Int) {
        let place = Place(device: device, key: key)
        for token in open[place] ?? [] { edits[token]?.isGivenUp = true }
        open[place] = []
    }

    /// A user takes a deletion back, and has a row again.
    func takeBackDeletion(of key: RowKey, by device: Int, _ row: Record?) {
        let place = Place(device: device, key: key)
        let tokens = tokens(row)
        var replaced: [String] = []
        if let token = lastDeletion[place], let deletion = edits[token] {
            edits[token]?.isGivenUp = true
            for earlier in deletion.replaces where tokens.contains(earlier) {
                edits[earlier]?.isReplaced = false
                edits[earlier]?.isCancelled = false
                open[place, default: []].insert(earlier)
            }
            replaced = deletion.replaces.filter { !tokens.contains($0) }
        }
        // What was written and deleted in one transaction is seen only now.
        for token in tokens where edits[token] == nil {
            add(token, at: place, follows: replaced + (seenDeletions[place] ?? []))
        }
    }

    /// A device gives up every change of some rows that waits.
    func giveUpEverything(of rows: Set<RowKey>, on device: Int) {
        for (place, tokens) in open where place.device == device && rows.contains(place.key) {
            for token in tokens { edits[token]?.isGivenUp = true }
            open[place] = []
        }
    }

    // MARK: What is allowed

    /// What speaks against a write of a device.
    func objections(to new: ServerContent, over old: ServerVersion?, in key: RowKey, by device: Int) -> [String] {
        guard let old, old.content.deletion == nil || new.deletion == nil,
            old.number != goneOver[Place(device: device, key: key)]
        else { return [] }
        let name = Device.name(device)
        if let deletion = old.content.deletion {
            let isAllowed = WorldSettings.columns
                .contains { new.values[$0].map { mayReplaceDeletion($0, deletion, in: key, by: device) } ?? false }
            return isAllowed
                ? []
                : ["\(name) brings \(key) back (\(new.description)), which \(deletion) had deleted: nobody decided it"]
        }
        return WorldSettings.columns.compactMap { column in
            guard let lost = old.content.values[column] else { return nil }
            let token = new.deletion ?? new.values[column]
            guard token != lost, !mayReplace(token, lost, by: device) else { return nil }
            return "\(name) writes \(token ?? "nothing") over \(column) \(lost) of \(key), which it did not know"
        }
    }

    private func mayReplace(_ new: String?, _ old: String, by device: Int) -> Bool {
        if edits[old]?.isGivenUp ?? false { return true }
        guard let new else { return false }
        return follows(new, old, device)
    }

    private func mayReplaceDeletion(_ new: String, _ deletion: String, in key: RowKey, by device: Int) -> Bool {
        if mayReplace(new, deletion, by: device) { return true }
        let deletions = seenDeletions[Place(device: device, key: key)] ?? []
        let deleted = server.history[key]?.history.last { $0.content.deletion == nil }?.content.tokens ?? []
        // Where a row was removed without a trace it can be made anew, and deleted by others before its device hears of it:
        // that tombstone looks like the one of the device's own deletion.
        if !deletions.isEmpty, server.history[key]?.removals.isEmpty == false, deleted.contains(new) { return true }
        // A deletion of its own that was given up is taken back: nobody can tell which one has left the tombstone.
        if deletions.contains(where: { isGivenUp($0) && edits[$0]?.isCompensation == false }) { return true }
        // What was made anew after some deletion goes over a later one, unless that one has deleted it.
        return deletions.contains { follows(new, $0, device) }
            && !deleted.contains { $0 == new || follows($0, new, device) }
    }

    private func isGivenUp(_ token: String) -> Bool { edits[token]?.isGivenUp ?? false }

    /// Whether one token came after another, through any number of edits and this device's decisions.
    private func follows(_ new: String, _ old: String, _ device: Int) -> Bool {
        var visited: Set<String> = [new]
        var next = [new]
        while let token = next.popLast() {
            let earlier = (edits[token]?.follows ?? []).union(decisions[device]?[token] ?? [])
            if earlier.contains(old) { return true }
            for token in earlier where visited.insert(token).inserted { next.append(token) }
        }
        return false
    }

    /// Somebody at the server, who sees what is there, writes something else.
    func writeAtServer(_ tokens: [String], in key: RowKey, over old: ServerContent?) {
        for token in tokens {
            edits[token] = Edit(
                token: token,
                place: Place(device: -1, key: key),
                isDeletion: false,
                follows: Set(old?.tokens ?? [])
            )
        }
    }
}
