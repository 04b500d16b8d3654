internal import Synchronization
internal import SyncContract

/// What all contexts of one store share: whose turn it is, and which answers were recorded.
///
/// Several contexts over one store are as safe as one: they find each other by its ``StoreIdentity``.
final class SyncCoordination: Sendable {
    /// Whose turn it is to change what the server's word changes: a whole push, one page of a pull, a purge.
    let gate = SerialGate()

    /// Which pull or purge is under way. One that waits for both gates takes this one first.
    let pullGate: SerialGate

    /// Which answers were recorded while a page was under way.
    let answers = AnswerLog()

    /// What a push has prepared and not sent yet.
    let marked = MarkedOperations()

    /// The change at which the last pushes have ended.
    let block = StumblingBlock()

    /// Whether every declared reference is known to hold local ids.
    let areReferencesTranslated = Atomic(false)

    /// Whether what is declared now was followed: which tables stay on the device, and which columns name files.
    let areDeclarationsFollowed = Atomic(false)

    /// Whether everything has to be brought anew before anything else is exchanged.
    let resets = Mutex(ResetKnowledge())

    /// Whether a push or pull waits for what the task does, or is taken to.
    var isWithinTurn: Bool { gate.isWithinTurn || pullGate.isWithinTurn }

    private init() { pullGate = SerialGate(before: gate) }

    private struct Entry: Sendable {
        weak let coordination: SyncCoordination?
    }

    private static let shared = Mutex<[StoreIdentity: Entry]>([:])

    /// What the contexts of a store share.
    static func of(_ store: any SyncContextDataSource) -> SyncCoordination {
        // A context holds its store. So as long as an entry's object lives, the identity is that of the same store.
        let identity = StoreIdentity(store)
        return shared.withLock { entries in
            if let coordination = entries[identity]?.coordination { return coordination }
            entries = entries.filter { $0.value.coordination != nil }
            let coordination = SyncCoordination()
            entries[identity] = Entry(coordination: coordination)
            return coordination
        }
    }
}

/// Whether everything has to be brought anew before anything else is exchanged.
struct ResetKnowledge: Sendable {
    /// Whether the store says so, as far as that was read; nil when it is to be read.
    private(set) var value: Bool?
    private(set) var changes = 0
    /// How many are about to bring everything.
    var holders = 0
    /// How often it was announced, and how many of these the store knows.
    private(set) var announced = 0
    private(set) var stored = 0

    /// Whether it is so, whatever the store says of it.
    var isHeld: Bool { holders > 0 || announced > stored }

    mutating func announce() { announced += 1 }

    /// Takes note that the store knows of so many announcements.
    mutating func store(_ announced: Int) { stored = max(stored, announced) }

    /// Takes note of what was read when there were so many changes.
    mutating func learn(_ value: Bool, at changes: Int) {
        if changes == self.changes { self.value = value }
    }

    /// Takes note of what was written after so many changes. Of two who write at the same time none knows who was the last.
    mutating func learn(written value: Bool, at changes: Int) {
        if changes == self.changes { self.value = value } else { change(to: nil) }
    }

    /// Takes note that it has changed, or is about to.
    mutating func change(to value: Bool?) {
        changes += 1
        self.value = value
    }
}
