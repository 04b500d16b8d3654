import SyncMachines
import Testing

/// Some servers make a tombstone in two steps: a row that is live, which is deleted at once. Here the second step is late, or
/// never left.
@Suite("A tombstone that was made in steps, the last of which is late")
struct UnfinishedTombstoneTests {
    /// The tombstone of an own row gets the content that it is to be brought back with, and the row that this has made for a
    /// moment is still live.
    private func filling() throws -> TestItem {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        item.receive(.taken(TestRow(content: "a", version: 2, isDeleted: true)), to: item.send())
        try item.insert("b")
        item.receive(.shown(TestRow(content: "a", version: 2, isDeleted: true)), to: item.send())
        let filling = item.machine.prepare(item.row, after: .done, restoresInSteps: true)
        #expect(filling?.request == .fillTombstone(TestRow(content: "b", version: 2), version: 2))
        item.receive(.aborted(provesNothingWasDone: false), to: filling)
        return item
    }

    private let live = TestRow(content: "b", version: 3)

    @Test("is no conflict with oneself", arguments: [true, false])
    func noConflict(_ wasEdited: Bool) throws {
        var item = try filling()
        if wasEdited { try item.update("c") }
        let again = item.machine.prepare(item.row, restoresInSteps: true)
        let outcome = item.receive(.shown(live), to: again)
        #expect(outcome == .again(.done))
        // It is written even if it is the same: the deletion of version 3 may still arrive.
        let content = wasEdited ? "c" : "b"
        let write = item.send(.done)
        #expect(write?.request == .update(TestRow(content: content, version: 3), version: 3, restoring: false))
    }

    @Test("is brought back once more when it arrives")
    func late() throws {
        var item = try filling()
        item.receive(.shown(live), to: item.machine.prepare(item.row, restoresInSteps: true))
        let write = item.send(.done)
        let tombstone = TestRow(content: "b", version: 4, isDeleted: true)
        let outcome = item.receive(.shown(tombstone), to: write)
        #expect(outcome == .again(.done))
        #expect(item.change?.restores == true && item.change?.baseVersion == 4)
    }

    @Test("is deleted when the item was deleted meanwhile")
    func deleted() throws {
        var item = try filling()
        try item.delete()
        let again = item.machine.prepare(item.row, after: .done, restoresInSteps: true)
        let outcome = item.receive(.shown(live), to: again)
        let deletion = item.send(.done)
        #expect(outcome == .again(.done) && deletion?.request == .delete(version: 3))
    }

    /// What keeps a late insert away is made as a row, and its deletion is late.
    @Test("is written once more when the item was inserted again")
    func newTombstone() throws {
        var item = TestItem()
        try item.insert("a")
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        try item.delete()
        let tombstone = item.send()
        #expect(tombstone?.request == .tombstone(TestRow(content: "a"), version: nil))
        item.receive(.aborted(provesNothingWasDone: false), to: tombstone)
        item.undoDelete()
        let shown = TestRow(content: "a", version: 1)
        let outcome = item.receive(.shown(shown), to: item.send())
        let write = item.send(.done)
        #expect(outcome == .again(.done) && write?.request == .update(shown, version: 1, restoring: false))
    }

    /// The tombstone can only be shown as it is before it is written, and whether that has happened is not known.
    private func shown(isStored: Bool = true) throws -> TestItem {
        var item = try filling()
        let again = item.machine.prepare(item.row, restoresInSteps: true)
        #expect(again?.mayShowTombstone == false)
        guard isStored else { return item }
        let outcome = item.receive(.wouldShowTombstone, to: again)
        #expect(outcome == .again(.tombstoneIsShown))
        #expect(item.change?.sent == [], "such a server changes no tombstone, not even late")
        let showing = item.machine.prepare(item.row, after: .tombstoneIsShown, restoresInSteps: true)
        #expect(showing?.request == .update(TestRow(content: "b", version: 2), version: 2, restoring: true))
        #expect(showing?.mayShowTombstone == true)
        // It is cut off: nobody says so.
        return item
    }

    @Test(
        "that may have been brought back with its old content is no conflict, and gets the new one",
        arguments: [true, false]
    )
    func halfRestored(_ isStored: Bool) throws {
        var item = try shown(isStored: isStored)
        let again = item.machine.prepare(item.row, restoresInSteps: true)
        #expect(again?.mayShowTombstone == isStored, "what may have happened may happen again")
        let shown = TestRow(content: "a", version: 3)
        let outcome = item.receive(.shown(shown), to: again)
        #expect(outcome == (isStored ? .again(.done) : .conflict(shown)))
        guard isStored else { return }
        let write = item.machine.prepare(item.row, after: .done, restoresInSteps: true)
        #expect(write?.request == .update(TestRow(content: "b", version: 3), version: 3, restoring: false))
        let end = item.receive(.taken(TestRow(content: "b", version: 4)), to: write)
        #expect(end == .done)
    }

    @Test("that was brought back with its old content may still get the first new one, and that is no conflict")
    func lateContent() throws {
        for content in ["c", "a"] {
            var item = try shown()
            // Also when the newest content is the old one: it must not be lost to a late one.
            try item.update(content)
            let outcome = item.receive(
                .shown(TestRow(content: "a", version: 3)),
                to: item.machine.prepare(item.row, restoresInSteps: true)
            )
            #expect(outcome == .again(.done))
            let write = item.send(.done)
            #expect(write?.request == .update(TestRow(content: content, version: 3), version: 3, restoring: false))
            #expect(item.receive(.shown(TestRow(content: "b", version: 4)), to: write) == .again(.done))
            let last = item.send(.done)
            #expect(last?.request == .update(TestRow(content: content, version: 4), version: 4, restoring: false))
        }
    }

    @Test("that was certainly not brought back leaves nothing to be known by")
    func notShown() throws {
        for answer in [ItemAnswer<TestRow>.refused(provesNothingWasDone: true), .aborted(provesNothingWasDone: true)] {
            var item = try filling()
            item.receive(.wouldShowTombstone, to: item.machine.prepare(item.row, restoresInSteps: true))
            let showing = item.machine.prepare(item.row, after: .tombstoneIsShown, restoresInSteps: true)
            #expect(item.change?.sent.count == 2)
            item.receive(answer, to: showing)
            #expect(item.change?.sent == [])
        }
    }

    @Test("that has its content is not filled once more because it is shown before")
    func shownFilled() throws {
        var item = try filling()
        let filled = TestRow(content: "b", version: 3, isDeleted: true)
        item.receive(.taken(filled), to: item.machine.prepare(item.row, restoresInSteps: true))
        guard let count = item.change?.editCounter else { return }
        let restore = item.machine.prepare(item.row, after: .tombstoneFilled(editCounter: count), restoresInSteps: true)
        let outcome = item.receive(.wouldShowTombstone, to: restore)
        #expect(outcome == .again(.tombstoneIsShown))
        let again = item.machine.prepare(item.row, after: .tombstoneIsShown, restoresInSteps: true)
        #expect(again?.request == restore?.request && again?.mayShowTombstone == true)
    }

    @Test("is written anew, when it was deleted again, with what was to be brought back and not with what it was")
    func deletedAgain() throws {
        // One request brings it back, or shows it as it was at first.
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        let deleted = TestRow(content: "a", version: 2, isDeleted: true)
        item.receive(.shown(deleted), to: item.send())
        item.apply(item.machine.keepMine(.row(deleted)))
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        item.receive(.aborted(provesNothingWasDone: false), to: item.send(.tombstoneIsShown))
        try item.delete()
        let tombstone = item.send()
        #expect(tombstone?.request == .tombstone(TestRow(content: "b", version: 2), version: 2))
        #expect(tombstone?.mayShowTombstone == true)
        // With the content of the tombstone it may be somebody else who has brought it back; there is nothing else here.
        item.machine.change?.sent.removeAll { $0.content?.content == "b" }
        #expect(item.send()?.request == .tombstone(deleted, version: 2))
    }

    @Test("that was shown is not filled, so that its deletion by others is told from that", arguments: [false, true])
    func deletedByOthers(_ wasEdited: Bool) throws {
        var item = try shown()
        if wasEdited { try item.update("c") }
        let again = item.machine.prepare(item.row, restoresInSteps: true)
        let content = wasEdited ? "c" : "b"
        #expect(again?.request == .update(TestRow(content: content, version: 2), version: 2, restoring: true))
        // The first one has brought it back with what it was to have, and somebody has deleted that.
        let deleted = TestRow(content: "b", version: 5, isDeleted: true)
        #expect(item.receive(.shown(deleted), to: again) == .conflict(deleted))
    }

    @Test("that is written anew with what it has may still be written late, and that is no conflict")
    func lateTombstone() throws {
        var item = try shown()
        // As an earlier version of this library left it.
        item.machine.change?.sent.removeAll { $0.content?.content == "b" }
        try item.delete()
        let outcome = item.receive(.shown(TestRow(content: "a", version: 3)), to: item.send())
        #expect(outcome == .again(.done))
        let deletion = item.send(.done)
        #expect(deletion?.request == .delete(version: 3))
        // What followed the showing has arrived meanwhile.
        #expect(item.receive(.shown(TestRow(content: "a", version: 4)), to: deletion) == .again(.done))
        #expect(item.send(.done)?.request == .delete(version: 4))
    }

    @Test("that somebody else has brought back with other content is a conflict")
    func broughtBackByOthers() throws {
        var item = try filling()
        let theirs = TestRow(content: "theirs", version: 3)
        let outcome = item.receive(.shown(theirs), to: item.machine.prepare(item.row, restoresInSteps: true))
        #expect(outcome == .conflict(theirs))
    }
}
