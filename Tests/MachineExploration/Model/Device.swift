import SyncMachines

/// One device: the machine of the item, its local row, and what its engine has under way.
struct Device: Hashable {
    /// A request between being stored and its answer being recorded.
    enum Slot: Hashable {
        case free
        /// It was stored and has not reached the server.
        case ready(RequestUnderWay<ModelRow>, Message)
        /// It was carried out, and goes out again before its answer is known.
        case again(RequestUnderWay<ModelRow>, Message)
        /// The server has answered; the answer is not recorded.
        case answered(RequestUnderWay<ModelRow>, Message, Answer)
    }

    /// What was read from the server for a pull, or by id, and not applied.
    struct Page: Hashable {
        /// Without a version when the server has no such row.
        var row: ModelRow
        var isLookUp: Bool
        /// Whether an answer was recorded since it was asked for.
        var isOutrun = false
    }

    let side: Side
    /// Whether bringing a row back takes two requests.
    let restoresInSteps: Bool
    var machine = ItemMachine<ModelRow>()
    var row: ModelRow?
    var slot = Slot.free
    /// Whether the change that what is under way belongs to has ended: the answer is none of the next one.
    var isOutlived = false
    var lookUp = LookUp.notDone
    var page: Page?
    /// How far pulls have come: the newest version that one has brought.
    var token: UInt8 = 0
    /// An item that is held in an editor.
    var editor: ModelRow?
    /// What a stored conflict shows.
    var conflict: SeenOnServer<ModelRow>?

    // MARK: Notes of the exploration

    /// How many edits and decisions were made here.
    var edits: UInt8 = 0
    /// What the user has seen or superseded: the edits that are in the local state.
    var known: Edits = []
    /// Own edits that the server is not known to have.
    var pending: Edits = []
    /// Edits of others that were overwritten knowingly.
    var overruled: Edits = []
    /// Whether own edits were left to the server. They may come at any time: what it shows may be news.
    var hasLeft = false
    /// Those of others that said the same as an own write.
    var equalled: Edits = []
    /// Those of them that a decision goes over which was not carried out: they are not when it is given up.
    var decided: Edits = []
    /// The number of that decision.
    var decisionTip: UInt8 = 0
    /// The newest own edit of the change that waits.
    var tip: UInt8 = 0
    /// What that edit wrote.
    var written: ModelRow.Content = 0
    /// What the change may have left behind.
    var values: Values = []

    init(side: Side, row: ModelRow?, restoresInSteps: Bool) {
        self.side = side
        self.restoresInSteps = restoresInSteps
        self.row = row
        token = row?.version ?? 0
    }

    /// Brings what means the same into one form, so that states are recognised.
    mutating func normalise() {
        if machine.change == nil {
            (pending, tip, written) = ([], 0, 0)
            // What was sent and is remembered may still be taken for what the server shows.
            if machine.memory.sent.isEmpty { values = [] }
            (decided, decisionTip) = ([], 0)
            conflict = nil
            isOutlived = slot != .free
        } else {
            if machine.change?.state != .conflicted { conflict = nil }
            row?.history = known
            row?.tip = tip
        }
        // Only whether the change was edited since it was sent counts.
        let counter = machine.change?.editCounter ?? 0
        switch slot {
        case .free:
            switch lookUp {
            case .tombstoneFilled(let filled):
                lookUp = filled == counter ? .tombstoneFilled(editCounter: 0) : .done
            case .tombstoneIsShown, .notDone, .done: break
            }
            machine.change?.editCounter = 0
        case .ready(var sent, let message):
            machine.change?.editCounter = counter == sent.editCounter ? 0 : 1
            sent.editCounter = 0
            slot = .ready(sent, message)
        case .again(var sent, let message):
            machine.change?.editCounter = counter == sent.editCounter ? 0 : 1
            sent.editCounter = 0
            slot = .again(sent, message)
        case .answered(var sent, let message, let answer):
            machine.change?.editCounter = counter == sent.editCounter ? 0 : 1
            sent.editCounter = 0
            slot = .answered(sent, message, answer)
        }
    }
}

/// What happens on a device, packed into a number, so that what a machine makes of it is computed once.
struct DeviceEvent: Hashable {
    enum Kind: UInt8 {
        case update, delete, insert, discard, undoDelete
        case keepMine, keepMerged, deleteInstead, takeServer, retry
        case openEditor, saveEditor
        case prepare, sendAgain, answered, record
        case noAnswer, notDone, failed, refused, refusedByGateway, wouldShow, die
        case requestPage, lookUpRow, applyPage
    }

    private(set) var bits: UInt32

    var kind: Kind { Kind(rawValue: UInt8(bits & 31)) ?? .die }
    var content: ModelRow.Content { UInt8(bits >> 8 & 3) }
    var row: ModelRow { ModelRow(bits: bits >> 8) }
    var answer: Answer { Answer(Answer.Kind(rawValue: UInt8(bits >> 5 & 7)) ?? .hidden, row) }

    init(_ kind: Kind, content: ModelRow.Content = 0) {
        bits = UInt32(kind.rawValue) | UInt32(content) << 8
    }

    init(_ kind: Kind, row: ModelRow) {
        bits = UInt32(kind.rawValue) | row.bits << 8
    }

    init(_ answer: Answer) {
        bits = UInt32(Kind.answered.rawValue) | UInt32(answer.kind.rawValue) << 5 | answer.row.bits << 8
    }
}
