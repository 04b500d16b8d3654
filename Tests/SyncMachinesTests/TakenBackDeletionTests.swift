import SyncMachines
import Testing

/// What was decided about a deletion, and is known of the server's row, when the deletion is taken back.
@Suite("A deletion that is taken back")
struct TakenBackDeletionTests {
    private let theirs = TestRow(content: "theirs", version: 6)

    @Test("goes over nothing that nobody saw when it was decided to", arguments: [false, true])
    func decided(_ isUpdate: Bool) throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("mine")
        if !isUpdate { try item.delete() }
        #expect(item.receive(.hidden, to: item.send()) == .hiddenConflict)
        if isUpdate {
            item.apply(item.machine.deleteInstead(item.row, .hidden))
        } else {
            item.apply(item.machine.keepMine(.hidden))
        }
        #expect(item.change?.isForced == true)
        if let effect = item.machine.undoDelete(TestComparison()) { item.apply(effect) }
        #expect(item.row?.content == "mine")
        // It was decided that the row goes, and not that this takes its place.
        #expect(item.receive(.shown(theirs), to: item.send()) == .conflict(theirs))
    }

    /// A local row was kept over a tombstone, or over nothing; others have brought the row back since.
    @Test(
        "is based on the row that a pull has brought while a change waited",
        arguments: [true, false],
        [true, false]
    )
    func keptBefore(_ isTombstone: Bool, _ takesServer: Bool) throws {
        let tombstone = TestRow(content: "a", version: 2, isDeleted: true)
        let back = TestRow(content: "back", version: 3)
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("mine")
        if isTombstone {
            item.receive(.shown(tombstone), to: item.send())
            item.apply(item.machine.keepLocal(.row(tombstone)))
        } else {
            item.receive(.absent, to: item.send())
            item.apply(item.machine.keepLocal(.nothing))
        }
        try item.update("later")
        #expect(item.machine.pulled(back, isHere: true, TestComparison()).0 == .passOver)
        item.apply(takesServer ? item.machine.takeServer(.row(back)) : item.machine.discard())
        #expect(item.row == back)
        #expect(!item.machine.memory.staysWithoutRow)
        try item.update("on top")
        // The request is lost, and is made again as it was.
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        let request = item.send()?.request
        #expect(request == .update(TestRow(content: "on top", version: 3), version: 3, restoring: false))
    }

    /// A server without versions: where it has some, the row that was seen is told by its version from one made here.
    @Test("brings nothing back that others have deleted, where a row of theirs was gone over after an own deletion")
    func deletedByOthers() throws {
        var item = TestItem(TestRow(content: "a"))
        try item.delete()
        #expect(item.receive(.taken(nil), to: item.send(.done)) == .done)
        try item.insert("b")
        let theirs = TestRow(content: "theirs")
        #expect(item.receive(.shown(theirs), to: item.send()) == .again(.notDone))
        #expect(item.receive(.shown(theirs), to: item.send()) == .conflict(theirs))
        item.apply(item.machine.keepMine(.row(theirs)))
        try item.delete()
        item.undoDelete()
        let tombstone = TestRow(content: "theirs", isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: item.send()) == .conflict(tombstone))
    }

    /// An editor that was opened before deletes, and thinks better of it.
    @Test("by an editor of an older state, leaves what was sent before recognised")
    func olderEditor() throws {
        var item = TestItem(TestRow(content: "theirs", version: 2))
        try item.update("first")
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        try item.update("second")
        try item.delete(seen: 1)
        if let effect = item.machine.undoDelete(TestComparison()) { item.apply(effect) }
        #expect(item.row?.content == "second")
        // The first one was carried out.
        let own = TestRow(content: "first", version: 3)
        #expect(item.receive(.shown(own), to: item.send()) == .again(.done))
    }
}
