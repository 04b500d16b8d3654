internal import SyncContract

/// What users did and decided whose server chooses ids, and what became of it. A row is known by its origin, which it keeps
/// for ever; no text is written twice, and a deletion has a token of its own.
final class ChosenLedger {
    struct Place: Hashable {
        let device: Int
        let origin: String
    }

    struct Edit {
        let place: Place
        let isDeletion: Bool
        /// What it replaced before the user's eyes.
        var follows: Set<String>
        /// Whether the same user has replaced it.
        var isReplaced = false
        /// Whether the user has given it up.
        var isGivenUp = false
        /// Whether this is a deletion that nobody has asked for, but the way to take back what was given up.
        var isCompensation = false
        /// Whether this is a deletion that was decided on of a row that was shown as deleted, or as gone: nothing is sent, and who
        /// has brought the row back, or made it anew, was not to be gone over.
        var metTombstone = false
        /// How many changes the server had when it was made.
        let sequence: Int
    }

    private(set) var edits: [String: Edit] = [:]
    private(set) var order: [String] = []
    /// What the server had of each row, in its order: texts, and the tokens of deletions.
    private(set) var history: [String: [(token: String, sequence: Int)]] = [:]
    private(set) var sequence = 0
    /// The rows that were made anew after they had been deleted here.
    private(set) var madeAnew: Set<String> = []
    /// The device that has made each row.
    private var makers: [String: Int] = [:]
    private var decisions: [Int: [String: Set<String>]] = [:]
    private var deletions: [Place: String] = [:]
    /// Rows that stay as they are here, whatever the server has: their texts, nil for one that was deleted.
    private(set) var kept: [Place: String?] = [:]
    /// The lists that rows on the server name as they are called on the device that has written the row, by the rows'
    /// origins: such a list was not to be sent.
    private(set) var namedAsHere: [String: String] = [:]
    /// What was changed together, in its order. What one deletion leads to is in none.
    private var groups: [(device: Int, tokens: [[String]])] = []

    /// Rows that were changed by a deletion, together with others.
    private var cleared: Set<Place> = []

    func maker(of origin: String) -> Int? { makers[origin] }

    // MARK: What users do

    func edit(_ text: String, at place: Place, over old: String?, isNew: Bool = false) {
        if isNew { makers[place.origin] = place.device }
        add(text, at: place, isDeletion: false, follows: [old, deletions[place]].compactMap(\.self))
    }

    @discardableResult
    func delete(at place: Place, over old: String?) -> String {
        let token = "†\(order.count)"
        add(token, at: place, isDeletion: true, follows: [old].compactMap(\.self))
        deletions[place] = token
        return token
    }

    private func add(_ token: String, at place: Place, isDeletion: Bool, follows: [String]) {
        edits[token] = Edit(place: place, isDeletion: isDeletion, follows: Set(follows), sequence: sequence)
        order.append(token)
        for earlier in follows where edits[earlier]?.place == place { edits[earlier]?.isReplaced = true }
    }

    /// A row names no list any more, because that was deleted, or is that list: the two are changed together.
    func clear(at place: Place) { cleared.insert(place) }

    /// What was written together is the latest.
    func group(_ tokens: [[String]], by device: Int) {
        if tokens.count > 1 { groups.append((device, tokens)) }
    }

    /// A deletion is taken back, and the row says this.
    func takeBackDeletion(at place: Place, _ text: String?) {
        giveUpDeletion(at: place)
        madeAnew.insert(place.origin)
        if let text, edits[text]?.place == place { edits[text]?.isReplaced = false }
    }

    /// A deletion is not to be made any more.
    func giveUpDeletion(at place: Place) {
        guard let token = deletions[place] else { return }
        edits[token]?.isGivenUp = true
    }

    /// What waits for a row is given up. What may have arrived is taken back by a change that nobody asked for.
    func giveUp(at place: Place) {
        for token in order where edits[token]?.place == place { edits[token]?.isGivenUp = true }
        let before = edits.filter { $0.value.place == place }.map(\.key)
        let token = delete(at: place, over: nil)
        edits[token]?.follows = Set(before)
        edits[token]?.isGivenUp = true
        edits[token]?.isCompensation = true
    }

    /// What waits for a row is dropped, and the row stays.
    func keep(_ text: String?, at place: Place) {
        for token in order where edits[token]?.place == place { edits[token]?.isGivenUp = true }
        kept[place] = .some(text)
    }

    /// A user goes over what the server has: a text, or the deletion of the row.
    func decide(_ mine: String, over theirs: Record, by device: Int) {
        guard let origin = theirs["origin"]?.stringValue else { return }
        let token = theirs.isDeleted ? history[origin]?.last { $0.token.hasPrefix("†") }?.token : nil
        let texts = [token, theirs["text"]?.stringValue].compactMap(\.self)
        decisions[device, default: [:]][mine, default: []].formUnion(texts)
        if theirs.isDeleted, edits[mine]?.isDeletion == true { edits[mine]?.metTombstone = true }
    }

    /// The same of one that has nothing of a row any more.
    func decide(_ mine: String, overNothingOf origin: String, by device: Int) {
        guard let deletion = history[origin]?.last(where: { $0.token.hasPrefix("†") })?.token else { return }
        decisions[device, default: [:]][mine, default: []].insert(deletion)
        // What somebody else has made anew since has another id, and is another row for this user.
        guard let anew = history[origin]?.last.flatMap({ edits[$0.token] }), !anew.isDeletion else { return }
        if anew.place.device != device, edits[mine]?.isDeletion == true { edits[mine]?.metTombstone = true }
    }

    func deletion(at place: Place) -> String? { deletions[place] }

    // MARK: What the server is asked to do

    /// What speaks against a change. It is taken note of.
    func objections(to write: ChoosingServer.Write) -> [String] {
        sequence += 1
        guard let origin = write.new["origin"]?.stringValue, let text = write.new["text"]?.stringValue else {
            return ["a row without content: \(write.description)"]
        }
        // A tombstone that is written anew is what it was.
        if write.old?.isDeleted == true, write.new.isDeleted, write.namesVersion { return [] }
        let place = Place(device: write.device, origin: origin)
        let token = write.new.isDeleted ? deletions[place] ?? "†nobody" : text
        let before = history[origin]?.last?.token
        let isNews = !(history[origin] ?? []).contains { $0.token == token }
        history[origin, default: []].append((token, sequence))
        if write.table == "items" {
            namedAsHere[origin] = write.namesUnknownList ? write.new["list"]?.stringValue : nil
        }
        var objections: [String] = []
        if !write.namesVersion { objections.append("a change names no version") }
        let mayBeAnew = madeAnew.contains(origin) || write.isForGood && before?.hasPrefix("†") ?? false
        if write.old == nil, before != nil, !mayBeAnew { objections.append("a row is made twice") }
        if write.namesUnknownList, !isGone(write.new["list"]?.stringValue ?? "", for: write.device) {
            objections.append("a list is named by an id that the server has not given")
        }
        if let before, !mayReplace(token, before, place) {
            objections.append("\(token) goes over \(before), which was not known")
        }
        // A list that others refer to goes first, wherever it stands, and what its insert meets there is settled at once.
        let mayGoAhead = write.table == "lists" && makers[origin] == write.device
        if isNews, !mayGoAhead, let earlier = earlierInGroup(than: token, place) {
            objections.append("\(token) leaves before \(earlier), which its group has changed first")
        }
        return objections.map { "\($0): \(write.description)" }
    }

    /// Whether a list that this device has made is not to be sent: by its id here, which ends with its origin.
    private func isGone(_ id: String, for device: Int) -> Bool {
        guard let origin = id.split(separator: "-").last.map(String.init), makers[origin] == device else { return true }
        let place = Place(device: device, origin: origin)
        if kept[place] != nil { return true }
        return deletions[place].map { edits[$0]?.isReplaced == false } ?? false
    }

    private func mayReplace(_ new: String, _ old: String, _ place: Place) -> Bool {
        if new == old { return true }
        if let edit = edits[old], edit.isGivenUp, edit.place == place { return true }
        // A deletion that was given up is taken back: nobody can tell which one has left the tombstone.
        if old.hasPrefix("†"), hasGivenUpDeletion(at: place) { return true }
        return follows(new, old, place.device)
    }

    private func hasGivenUpDeletion(at place: Place) -> Bool {
        edits.values.contains { $0.place == place && $0.isDeletion && $0.isGivenUp && !$0.isCompensation }
    }

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

    // MARK: Groups

    /// What stands before a token in its group and has not arrived although something waits for it: only of rows that are
    /// changed once in all groups, because other changes may have put them in another order.
    private func earlierInGroup(than token: String, _ place: Place) -> String? {
        guard edits[token]?.place == place else { return nil }
        let own = groups.filter { $0.device == place.device }
        func isInOne(_ token: String) -> Bool {
            guard let place = edits[token]?.place, !cleared.contains(place) else { return false }
            return own.flatMap { $0.tokens.joined() }.count { edits[$0]?.place == place } == 1
        }
        let group = own.first { $0.tokens.joined().contains(token) }
        guard isInOne(token), let group else {
            return nil
        }
        return group.tokens.prefix { !$0.contains(token) }.joined()
            .first { edits[$0]?.place != place && isInOne($0) && !isSettled($0) }
    }

    /// Whether nothing of an edit waits any more: it has arrived, was given up, or what took its place is settled.
    private func isSettled(_ token: String) -> Bool {
        guard let edit = edits[token], !edit.isGivenUp else { return true }
        let history = history[edit.place.origin] ?? []
        if history.contains(where: { $0.token == token }) { return true }
        if edit.isDeletion, isDeleted(edit) { return true }
        guard edit.isReplaced else { return false }
        return edits.contains { $0.value.place == edit.place && $0.value.follows.contains(token) && isSettled($0.key) }
    }

    // MARK: What is asked at the end

    /// The texts and deletions that are nowhere.
    func losses() -> [String] {
        order.compactMap { token in
            guard let edit = edits[token], !edit.isReplaced, !edit.isGivenUp else { return nil }
            let isThere =
                edit.isDeletion
                ? isDeleted(edit) : (history[edit.place.origin] ?? []).contains { $0.token == token }
            guard !isThere else { return nil }
            return "\(Device.name(edit.place.device))'s \(token) of \(edit.place.origin) is nowhere"
        }
    }

    /// Whether there is nothing to delete, or was not at some time since.
    private func isDeleted(_ edit: Edit) -> Bool {
        if edit.metTombstone { return true }
        let history = history[edit.place.origin] ?? []
        let then = history.last { $0.sequence <= edit.sequence }
        return history.isEmpty || then?.token.hasPrefix("†") ?? false
            || history.contains { $0.token.hasPrefix("†") && $0.sequence > edit.sequence }
    }
}
