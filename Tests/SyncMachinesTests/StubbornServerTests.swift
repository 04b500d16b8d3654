import SyncMachines
import Testing

@Suite("What a server refuses for good")
struct StubbornServerTests {
    private let base = TestRow(content: "a", version: 1)

    @Test("is laid aside when the row that it shows is the one that was to be changed, and not sent again and again")
    func showsTheBase() throws {
        for deletes in [false, true] {
            var item = TestItem(base)
            if deletes { try item.delete() } else { try item.update("b") }
            #expect(item.receive(.shown(base), to: item.send()) == .parked)
            #expect(item.change?.state == .parked && item.change?.sent.isEmpty == true)
            item.discard()
            #expect(item.change == nil && item.row == base)
        }
    }

    @Test("is laid aside as well after a decision to go over that row, and after an earlier copy without an answer")
    func showsTheBaseAgain() throws {
        var item = TestItem(base)
        try item.update("b")
        item.receive(.shown(TestRow(content: "c", version: 2)), to: item.send())
        item.apply(item.machine.keepMine(.row(TestRow(content: "c", version: 2))))
        #expect(item.receive(.shown(TestRow(content: "c", version: 2)), to: item.send()) == .parked)

        var late = TestItem(base)
        try late.update("b")
        late.receive(.aborted(provesNothingWasDone: false), to: late.send())
        #expect(late.receive(.shown(base), to: late.send()) == .parked)
        #expect(late.change?.sent.count == 1, "the first copy may still arrive")
    }

    @Test("a version that was used twice is a conflict all the same")
    func versionUsedTwice() throws {
        var item = TestItem(base)
        try item.update("b")
        let other = TestRow(content: "c", version: 1, stamp: 5)
        #expect(item.receive(.shown(other), to: item.send()) == .conflict(other))
    }

    @Test("is given up by a second decision when it was to take back what may still arrive")
    func compensation() throws {
        var item = TestItem(base)
        try item.update("b")
        item.receive(.refused(provesNothingWasDone: false), to: item.send())
        item.discard()
        #expect(item.change?.isUndo == true && item.row == base)
        #expect(item.receive(.refused(provesNothingWasDone: false), to: item.send()) == .parked)
        item.discard()
        #expect(item.change == nil && item.machine.needsRow && item.row == base)
        #expect(item.pull(TestRow(content: "theirs", version: 2)) == .apply)
    }

    @Test("and so is the deletion of an insert that was too large")
    func tombstone() throws {
        var item = TestItem()
        try item.insert("a")
        item.receive(.refused(provesNothingWasDone: false), to: item.send())
        item.discard()
        item.receive(.refused(provesNothingWasDone: false), to: item.send())
        #expect(item.change?.state == .parked)
        item.apply(item.machine.takeServer(.refused))
        #expect(item.change == nil && item.row == nil && item.machine.needsRow)
    }

    /// An insert without an answer, the content of which the server refuses from then on.
    private func refusedInsert(_ contents: String...) throws -> TestItem {
        var item = TestItem()
        try item.insert(contents[0])
        for content in contents {
            if content != contents[0] { try item.update(content) }
            item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        }
        #expect(item.receive(.refused(provesNothingWasDone: true), to: item.send()) == .parked)
        return item
    }

    /// The ways to get rid of it.
    enum Ending: CaseIterable { case delete, discard, takeServer, deleteInstead }

    private func end(_ item: inout TestItem, _ ending: Ending) throws {
        switch ending {
        case .delete: try item.delete()
        case .discard: item.discard()
        case .takeServer: item.apply(item.machine.takeServer(.refused))
        case .deleteInstead: item.apply(item.machine.deleteInstead(item.row, .refused))
        }
        #expect(item.row == nil && item.change?.kind == .delete)
    }

    @Test(
        "an insert whose content is refused, and then its deletion for the same reason, has ended when there is no row",
        arguments: Ending.allCases,
        [nil, TestRow(content: "a", version: 3, isDeleted: true)]
    )
    func refusedTombstone(_ ending: Ending, _ tombstone: TestRow?) throws {
        var item = try refusedInsert("a")
        try end(&item, ending)
        let sent = item.send()
        #expect(sent?.request == .tombstone(TestRow(content: "a"), version: nil))
        #expect(item.receive(.refused(provesNothingWasDone: true), to: sent) == .again(.notDone))
        let lookUp = item.send()
        #expect(lookUp?.request == .lookUp)
        #expect(item.receive(tombstone.map { .shown($0) } ?? .absent, to: lookUp) == .done)
        #expect(item.change == nil && item.row == nil && !item.machine.needsRow)
    }

    @Test(
        "and is deleted in its version when it has arrived after all, also when that is found out later",
        arguments: Ending.allCases,
        [true, false]
    )
    func arrivedInsert(_ ending: Ending, _ isInterrupted: Bool) throws {
        var item = try refusedInsert("a")
        try end(&item, ending)
        item.receive(.refused(provesNothingWasDone: true), to: item.send())
        if isInterrupted { item.receive(.failed, to: item.send()) }
        let lookUp = item.send()
        #expect(lookUp?.request == .lookUp)
        #expect(item.receive(.shown(TestRow(content: "a", version: 1)), to: lookUp) == .again(.done))
        let deletion = item.send(.done)
        #expect(deletion?.request == .delete(version: 1))
        #expect(item.receive(.taken(nil), to: deletion) == .done)
        #expect(item.change == nil && item.row == nil)
    }

    @Test("but is no reason to delete the row of others: it is a conflict, or is taken where a change is taken back")
    func rowOfOthers() throws {
        let theirs = TestRow(content: "theirs", version: 1)
        for ending in [Ending.delete, .discard] {
            var item = try refusedInsert("a")
            try end(&item, ending)
            item.receive(.refused(provesNothingWasDone: true), to: item.send())
            let outcome = item.receive(.shown(theirs), to: item.send())
            #expect(outcome == (ending == .delete ? .conflict(theirs) : .done))
            #expect(item.row == (ending == .delete ? nil : theirs))
        }
    }

    @Test("and what left with another content is kept away by itself")
    func severalContents() throws {
        var item = try refusedInsert("a", "b")
        item.discard()
        let last = item.send()
        #expect(last?.request == .tombstone(TestRow(content: "b"), version: nil))
        #expect(item.receive(.refused(provesNothingWasDone: true), to: last) == .again(.notDone))
        let first = item.send()
        #expect(first?.request == .tombstone(TestRow(content: "a"), version: nil))
        #expect(item.receive(.taken(TestRow(content: "a", version: 1, isDeleted: true)), to: first) == .done)
        #expect(item.change == nil)
    }

    @Test("and is an insert again when the deletion is taken back, and taken back again it ends")
    func undoneRefusedTombstone() throws {
        var item = try refusedInsert("a")
        try item.delete()
        let sent = item.send()
        item.undoDelete()
        #expect(item.receive(.refused(provesNothingWasDone: true), to: sent) == .waits)
        let insert = item.send()
        #expect(insert?.request == .insert(TestRow(content: "a")))
        item.receive(.refused(provesNothingWasDone: true), to: insert)
        item.discard()
        #expect(item.change?.isUndo == true && item.change?.kind == .delete)
        #expect(item.receive(.absent, to: item.send()) == .done)
    }

    @Test("a row that is never shown is the server's after a second decision at the latest")
    func hidden() throws {
        for inserts in [false, true] {
            var item = TestItem(inserts ? nil : base)
            if inserts { try item.insert("b") } else { try item.update("b") }
            #expect(item.receive(.hidden, to: item.send()) == .hiddenConflict)
            // The row may be what was sent: it is taken back.
            item.apply(item.machine.takeServer(.hidden))
            #expect(item.change?.isUndo == true)
            #expect(item.receive(.hidden, to: item.send()) == .hiddenConflict)
            item.apply(item.machine.takeServer(.hidden))
            #expect(item.change == nil && item.machine.needsRow)
        }
    }

    @Test("an insert that the server has stored under another id leaves nothing that would have to be deleted")
    func storedUnderAnotherID() throws {
        var item = TestItem()
        try item.insert("a")
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        #expect(item.receive(.storedUnderAnotherID, to: item.send()) == .parked)
        #expect(try item.delete())
        #expect(item.change == nil)
    }

    @Test("and so does its deletion, but for the row of others that the server has shown: that is asked for")
    func storedUnderAnotherIDBesideAnother() throws {
        for isShown in [true, false] {
            var item = TestItem()
            try item.insert("a")
            if isShown { item.receive(.shown(TestRow(content: "theirs", version: 1)), to: item.send()) }
            try item.update("b")
            #expect(item.receive(.storedUnderAnotherID, to: item.send()) == .parked)
            #expect(try item.delete())
            #expect(item.change == nil && item.machine.needsRow == isShown)
        }
    }

    @Test("and is laid aside with what was changed meanwhile: sent once more, it would be a second row")
    func storedUnderAnotherIDAfterEdit() throws {
        var item = TestItem()
        try item.insert("a")
        let sent = item.send()
        try item.update("b")
        #expect(item.receive(.storedUnderAnotherID, to: sent) == .parked)
        #expect(item.change?.state == .parked && item.change?.sent.isEmpty == true && item.row?.content == "b")

        var deleted = TestItem()
        try deleted.insert("a")
        let insert = deleted.send()
        try deleted.delete()
        #expect(deleted.receive(.storedUnderAnotherID, to: insert) == .waits)
        #expect(deleted.send()?.request == .lookUp)
        #expect(deleted.receive(.absent, to: deleted.send()) == .done)
    }
}

@Suite("A save from an editor that was opened before the row here")
struct OlderEditorTests {
    private let stored = TestRow(content: "theirs", version: 3)

    @Test("leaves the row that was here when it is taken back")
    func reverted() throws {
        var item = TestItem(stored)
        try item.update("mine", seen: 1)
        #expect(item.change?.isBasedOnOlderRow == true)
        item.discard()
        #expect(item.change == nil && item.row == stored)
    }

    @Test("and the newer one when a pull has brought one meanwhile")
    func revertedAfterPull() throws {
        var item = TestItem(stored)
        try item.update("mine", seen: 1)
        item.pull(TestRow(content: "newer", version: 4))
        item.discard()
        #expect(item.change == nil && item.row == TestRow(content: "newer", version: 4))
    }

    @Test("that deleted the row leaves the change that it replaced as it was when it is taken back")
    func undoneDeletion() throws {
        var item = TestItem(stored)
        try item.update("mine")
        try item.delete(seen: 1)
        #expect(item.change?.baseVersion == 1)
        item.undoDelete()
        #expect(item.change?.baseVersion == 3 && item.change?.base == stored)
        #expect(item.change?.isBasedOnOlderRow == false && item.row?.content == "mine")
        #expect(item.send()?.request == .update(TestRow(content: "mine", version: 3), version: 3, restoring: false))
    }

    @Test("that deleted a change of another older editor leaves that as old as it was")
    func undoneDeletionOfOlder() throws {
        var item = TestItem(stored)
        try item.update("mine", seen: 2)
        try item.delete(seen: 1)
        item.undoDelete()
        #expect(item.change?.isBasedOnOlderRow == true && item.change?.baseVersion != 3)
    }

    @Test("finds a conflict when a pull has brought another row before the deletion is taken back")
    func undoneDeletionAfterPull() throws {
        var item = TestItem(stored)
        try item.update("mine")
        try item.delete(seen: 1)
        let newer = TestRow(content: "newer", version: 4)
        item.pull(newer)
        item.undoDelete()
        #expect(item.receive(.shown(newer), to: item.send()) == .conflict(newer))
    }

    @Test("finds no conflict with itself after any number of saves of its own")
    func manySaves() throws {
        var item = TestItem(TestRow(content: "a", version: 0))
        for version in 1...200 {
            try item.update("save \(version)", seen: 0)
            let sent = item.send()
            #expect(item.change?.isBasedOnOlderRow == false, "save \(version)")
            item.receive(.taken(TestRow(content: "save \(version)", version: version)), to: sent)
        }
    }
}
