import SyncMachines
import Testing

@Suite("What a local change makes of the one that waits")
struct LocalChangeTests {
    private typealias Kind = QueuedChange<TestRow>.Kind

    @Test("an insert and the deletion of its item cancel out when nothing was sent")
    func cancelled() throws {
        var item = TestItem()
        try item.insert("a")
        try item.update("b")
        #expect(item.change?.kind == .insert)
        #expect(try item.delete())
        #expect(item.change == nil)
    }

    @Test("an insert that may have reached the server is deleted there, without a version and before it can arrive")
    func attemptedInsert() throws {
        var item = TestItem()
        try item.insert("a")
        _ = item.send()
        #expect(try !item.delete())
        #expect(item.change?.kind == .delete)
        #expect(item.send()?.request == .tombstone(TestRow(content: "a"), version: nil))
    }

    @Test("the deletion of a conflicted insert waits, and looks before it deletes")
    func conflictedInsert() throws {
        var item = TestItem()
        try item.insert("a")
        item.receive(.shown(TestRow(content: "theirs", version: 1)), to: item.send())
        #expect(item.change?.state == .conflicted)
        #expect(try !item.delete())
        #expect(item.change?.state == .pending)
        let sent = item.send()
        #expect(sent?.request == .lookUp)
        #expect(
            item.receive(.shown(TestRow(content: "theirs", version: 1)), to: sent)
                == .conflict(TestRow(content: "theirs", version: 1))
        )
    }

    @Test("an update becomes a deletion with its base, and is an update again when that is taken back")
    func updateThenDelete() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        try item.delete()
        #expect(item.change?.kind == .delete && item.change?.baseVersion == 1)
        item.undoDelete()
        #expect(item.change?.kind == .update && item.change?.baseVersion == 1 && item.row?.content == "b")
    }

    @Test("a deletion that replaced nothing leaves nothing when it is taken back")
    func undoDelete() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        item.undoDelete()
        #expect(item.change == nil && item.row == TestRow(content: "a", version: 1))
    }

    @Test("a deletion that may have been carried out is followed by the row when it is taken back")
    func undoSentDelete() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        _ = item.send()
        item.undoDelete()
        #expect(item.change?.kind == .update && item.row?.content == "a")
        let tombstone = TestRow(content: "a", version: 2, isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: item.send()) == .again(.done))
        #expect(item.send(.done)?.request == .update(TestRow(content: "a", version: 2), version: 2, restoring: true))
    }

    @Test("a deletion is not done by a tombstone that a restore which was sent may still bring back")
    func deletionOfWhatMayBeRestored() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        _ = item.send()
        item.undoDelete()
        let tombstone = TestRow(content: "a", version: 2, isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: item.send()) == .again(.done))
        item.receive(.aborted(provesNothingWasDone: false), to: item.send(.done))
        try item.delete()
        let sent = item.send()
        guard case .tombstone(_, version: 2)? = sent?.request else {
            Issue.record("\(String(describing: sent?.request))")
            return
        }
        #expect(item.receive(.taken(TestRow(content: "a", version: 3, isDeleted: true)), to: sent) == .done)
        #expect(item.change == nil && item.row == nil)
    }

    /// The deletion was carried out, and its second copy is what gets the answer.
    @Test("a deletion that meets its own tombstone is none of others for an editor that was opened before")
    func doubledDelete() throws {
        for (content, isOwn) in [("a", true), ("theirs", false)] {
            var item = TestItem(TestRow(content: "a", version: 1))
            try item.delete()
            let tombstone = TestRow(content: content, version: 2, isDeleted: true)
            #expect(item.receive(.shown(tombstone), to: item.send()) == .done)
            try item.insert("b")
            #expect(item.receive(.shown(tombstone), to: item.send()) == .again(.done))
            item.receive(.taken(TestRow(content: "b", version: 3)), to: item.send(.done))
            try item.update("c", seen: 1)
            #expect(item.change?.isBasedOnOlderRow == !isOwn)
        }
    }

    @Test("an item inserted over its waiting deletion is a change of the row that was to be deleted")
    func insertOverDelete() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        try item.insert("b")
        #expect(item.change?.kind == .update && item.change?.baseVersion == 1)
    }

    @Test("an item inserted over the deletion of what was not here goes over no row that nobody here has seen")
    func insertOverUnseenDelete() throws {
        var item = TestItem()
        try item.delete()
        #expect(item.change?.isForced == true, "whatever the server has under this id was to be deleted")
        try item.insert("mine")
        let sent = item.send()
        #expect(sent?.request == .insert(TestRow(content: "mine")))
        let theirs = TestRow(content: "theirs", version: 1)
        #expect(item.receive(.shown(theirs), to: sent) == .conflict(theirs))
    }

    @Test("an insert over a change, and anything but an insert over a deletion, is refused")
    func refusals() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        #expect(throws: EditRefusal.changeWaits) { try item.machine.insert() }
        try item.delete()
        #expect(throws: EditRefusal.deletionWaits) { try item.delete() }
        #expect(throws: EditRefusal.deletionWaits) { try item.machine.update(TestRow(), seen: nil) }
    }

    @Test("an edit of a conflicted or refused change waits again, over the same base")
    func editAfterAnswer() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        item.receive(.shown(TestRow(content: "theirs", version: 2)), to: item.send())
        try item.update("c")
        #expect(item.change?.state == .pending && item.change?.baseVersion == 1)
    }

    @Test("a version given by the app counts as the base when only own writes have followed it")
    func ownVersions() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        item.receive(.taken(TestRow(content: "b", version: 2)), to: item.send())
        try item.update("c", seen: 1)
        #expect(item.change?.baseVersion == 2 && item.change?.isBasedOnOlderRow == false)
        item.receive(.taken(TestRow(content: "c", version: 3)), to: item.send())
        item.pull(TestRow(content: "theirs", version: 4))
        try item.update("d", seen: 2)
        #expect(item.change?.baseVersion == 2 && item.change?.isBasedOnOlderRow == true && item.row?.version == 2)
    }

    @Test("nothing is remembered of an insert that was taken: the next own write begins with its version")
    func insertLeavesNothingBehind() throws {
        var item = TestItem()
        try item.insert("a")
        item.receive(.taken(TestRow(content: "a", version: 1)), to: item.send())
        #expect(item.machine.memory.isEmpty)
        try item.update("b")
        item.receive(.taken(TestRow(content: "b", version: 2)), to: item.send())
        try item.update("c", seen: 1)
        #expect(item.change?.baseVersion == 2 && item.change?.isBasedOnOlderRow == false)
    }
}
