import SyncMachines
import Testing

/// What simulations have found.
@Suite("Courses that only chance has shown")
struct RareCourseTests {
    /// An update that may arrive was given up; what takes it back was refused.
    private func refusedUndo() throws -> TestItem {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        item.discard()
        item.receive(.refused(provesNothingWasDone: true), to: item.send())
        #expect(item.change?.isUndo == true && item.change?.state == .parked && item.row?.content == "a")
        return item
    }

    private let theirs = TestRow(content: "theirs", version: 2)

    @Test("when taking back what has arrived is refused and given up, the next edit goes on from what the server has")
    func givenUpUndo() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        let late = item.send()
        let arrived = TestRow(content: "b", version: 2)
        item.discard()
        item.receive(.taken(arrived), to: late)
        #expect(item.row == TestRow(content: "a", version: 2) && item.change?.isUndo == true)
        item.receive(.refused(provesNothingWasDone: true), to: item.send())
        item.discard()
        #expect(item.change == nil && item.row == arrived && item.machine.needsRow)
        try item.update("c")
        item.pull(arrived)
        item.receive(.refused(provesNothingWasDone: true), to: item.send())
        item.discard()
        #expect(item.change == nil && item.row == arrived)
    }

    @Test("an insert that may have arrived, met another row and was edited meanwhile, is not dropped by its deletion")
    func editedAndDeletedInsert() throws {
        for (wasLost, isFit) in [(true, true), (false, true), (true, false)] {
            let other: ItemAnswer = isFit ? .shown(theirs) : .unfit(version: 2)
            var item = TestItem()
            try item.insert("a")
            if wasLost { item.receive(.aborted(provesNothingWasDone: false), to: item.send()) }
            let sent = item.send()
            try item.update("b")
            item.receive(other, to: sent)
            #expect(try item.delete() == false)
            #expect(item.receive(other, to: item.send()) == (isFit ? .conflict(theirs) : .hiddenConflict))
        }
    }

    @Test(
        "who gives an editor's older state up, saved while an own write travelled, has what that has written",
        arguments: [
            true, false,
        ]
    )
    func olderStateGivenUp(isShown: Bool) throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        item.pull(theirs)
        try item.update("b")
        let first = item.send()
        try item.update("c", seen: 1)
        let written = TestRow(content: "b", version: 3)
        item.receive(.taken(isShown ? written : nil), to: first)
        #expect(item.row == TestRow(content: "c", version: 1) && item.machine.needsRow != isShown)
        item.discard()
        #expect(item.change == nil && item.row == (isShown ? written : theirs))
        try item.delete()
        let deletion = item.send()
        if !isShown { #expect(item.receive(.shown(written), to: deletion) == .again(.done)) }
        #expect(item.change?.baseVersion == 3)
    }

    @Test(
        "who gives it up while that travels has what was here before, and what it has written is taken back",
        arguments: [true, false]
    )
    func olderStateGivenUpUnderWay(isShown: Bool) throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        item.pull(theirs)
        try item.update("b")
        let first = item.send()
        try item.update("c", seen: 1)
        item.discard()
        #expect(item.row == theirs)
        let written = TestRow(content: "b", version: 3)
        #expect(item.receive(.taken(isShown ? written : nil), to: first) == .waits)
        var next = item.send()
        if !isShown {
            // It names the version of before, and finds out.
            #expect(item.receive(.shown(written), to: next) == .again(.done))
            next = item.send(.done)
        }
        guard case .update(let row, version: 3, restoring: false)? = next?.request else {
            Issue.record("\(String(describing: next))")
            return
        }
        #expect(row.content == theirs.content)
        #expect(item.receive(.taken(TestRow(content: row.content, version: 4)), to: next) == .done)
        #expect(item.change == nil && item.row?.content == theirs.content)
    }

    @Test(
        "other content that is kept instead of taking a change back is a change of its own, which is not dropped silently"
    )
    func mergedUndo() throws {
        var item = try refusedUndo()
        item.row?.content = "merged"
        item.machine.keepContent()
        item.apply(item.machine.keepMine(.refused))
        #expect(item.receive(.shown(theirs), to: item.send()) == .conflict(theirs))
        #expect(item.row?.content == "merged")
    }

    @Test("a row that is deleted instead of taking a change back is not left alone silently")
    func undoDeletedInstead() throws {
        var item = try refusedUndo()
        item.apply(item.machine.deleteInstead(item.row, .refused))
        #expect(item.receive(.shown(theirs), to: item.send()) == .conflict(theirs))
    }

    @Test("taking a change back that was refused is tried again when it is kept")
    func keptUndo() throws {
        var item = try refusedUndo()
        item.apply(item.machine.keepMine(.refused))
        #expect(item.receive(.shown(theirs), to: item.send()) == .done)
        #expect(item.row == theirs)
    }

    @Test("a restore in two steps is no conflict with an editor that was opened before it")
    func editorBeforeRestore() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        let deleted = TestRow(content: "a", version: 2, isDeleted: true)
        item.receive(.shown(deleted), to: item.send())
        item.apply(item.machine.keepMine(.row(deleted)))
        let filling = item.machine.prepare(item.row, restoresInSteps: true)
        let filled = TestRow(content: "b", version: 3, isDeleted: true)
        let outcome = item.receive(.taken(filled), to: filling)
        #expect(outcome == .again(.tombstoneFilled(editCounter: item.change?.editCounter ?? -1)))
        guard case .again(let lookUp) = outcome else { return }
        let restoring = item.machine.prepare(item.row, after: lookUp, restoresInSteps: true)
        #expect(item.receive(.taken(TestRow(content: "b", version: 4)), to: restoring) == .done)
        try item.update("c", seen: 2)
        #expect(item.change?.baseVersion == 4)
    }

    @Test(
        "a row that was to be brought back, and is deleted instead, is not made live for that",
        arguments: [true, false]
    )
    func deletedInsteadOfRestored(_ isRefused: Bool) throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        let deleted = TestRow(content: "a", version: 2, isDeleted: true)
        item.receive(.shown(deleted), to: item.send())
        item.apply(item.machine.keepMine(.row(deleted)))
        item.receive(.refused(provesNothingWasDone: isRefused), to: item.send())
        item.apply(item.machine.deleteInstead(item.row, .refused))
        let deletion = item.send()
        #expect(
            deletion?.request == (isRefused ? .lookUp : .tombstone(TestRow(content: "b", version: 2), version: 2)),
            "where that takes steps, what is live in between is known by what was sent before"
        )
        let end = TestRow(content: isRefused ? "a" : "b", version: isRefused ? 2 : 3, isDeleted: true)
        #expect(item.receive(isRefused ? .shown(end) : .taken(end), to: deletion) == .done)
        #expect(item.change == nil && item.row == nil)
    }

    @Test("an own write is none of others for an editor, whatever was decided since over a row that was not shown")
    func decidedOverHiddenOwnRow() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        #expect(item.receive(.hidden, to: item.send()) == .hiddenConflict)
        item.apply(item.machine.keepMine(.hidden))
        try item.update("c")
        #expect(item.receive(.shown(TestRow(content: "b", version: 2)), to: item.send()) == .again(.done))
        try item.update("d", seen: 1)
        #expect(item.change?.baseVersion == 2 && item.change?.isBasedOnOlderRow == false)
    }

    @Test("a row that is what it was before the server was set up anew is no conflict, although something was sent")
    func sameAfterReset() throws {
        for (stamp, isSame) in [(0, true), (1, false)] {
            var item = TestItem(TestRow(content: "a", version: 1))
            try item.update("b")
            item.receive(.aborted(provesNothingWasDone: false), to: item.send())
            _ = item.machine.reset(onto: .hidden, item.row, TestComparison())
            let lookUp = item.send()
            #expect(lookUp?.request == .lookUp)
            let shown = TestRow(content: "a", version: 1, stamp: stamp)
            #expect(item.receive(.shown(shown), to: lookUp) == (isSame ? .again(.done) : .conflict(shown)))
            guard isSame else { continue }
            let update = item.send(.done)
            #expect(update?.request == .update(TestRow(content: "b", version: 1), version: 1, restoring: false))
        }
    }

    @Test("a late deletion that was given up, and that a pull finds, lets the item be made again")
    func lateDeletion() throws {
        for (content, isOwn) in [("a", true), ("theirs", false)] {
            var item = TestItem()
            try item.insert("a")
            item.receive(.refused(provesNothingWasDone: false), to: item.send())
            item.discard()
            let deletion = item.send()
            #expect(deletion?.request == .tombstone(TestRow(content: "a"), version: nil))
            item.receive(.refused(provesNothingWasDone: false), to: deletion)
            item.discard()
            #expect(item.change == nil)
            let tombstone = TestRow(content: content, version: 1, isDeleted: true)
            item.pull(tombstone)
            try item.insert("b")
            let outcome = item.receive(.shown(tombstone), to: item.send())
            #expect(outcome == (isOwn ? .again(.done) : .conflict(tombstone)))
        }
    }

    /// A tombstone was filled to be brought back, and what became of showing it is not known.
    private func shownPerhaps() throws -> TestItem {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        let deleted = TestRow(content: "a", version: 2, isDeleted: true)
        item.receive(.shown(deleted), to: item.send())
        item.apply(item.machine.keepMine(.row(deleted)))
        let filling = item.machine.prepare(item.row, restoresInSteps: true)
        let filled = item.receive(.taken(TestRow(content: "b", version: 3, isDeleted: true)), to: filling)
        guard case .again(let lookUp) = filled else { return item }
        let showing = item.machine.prepare(item.row, after: lookUp, restoresInSteps: true)
        item.receive(.aborted(provesNothingWasDone: false), to: showing)
        return item
    }

    @Test("a row that was brought back in two steps, and deleted by somebody else before that is known, stays deleted")
    func deletedAfterRestore() throws {
        var item = try shownPerhaps()
        let again = item.machine.prepare(item.row, restoresInSteps: true)
        #expect(again?.request == .update(TestRow(content: "b", version: 3), version: 3, restoring: true))
        let tombstone = TestRow(content: "b", version: 5, isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: again) == .conflict(tombstone))
    }

    @Test("so it does when it was edited meanwhile")
    func deletedAfterRestoreAndEdit() throws {
        var item = try shownPerhaps()
        try item.update("c")
        let filling = item.machine.prepare(item.row, restoresInSteps: true)
        #expect(filling?.request == .fillTombstone(TestRow(content: "c", version: 3), version: 3))
        let tombstone = TestRow(content: "b", version: 5, isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: filling) == .conflict(tombstone))
    }

    @Test("a row that was made to be deleted is known again when it was deleted no more")
    func interruptedTombstone() throws {
        var item = TestItem()
        try item.insert("a")
        item.receive(.failed, to: item.send())
        item.discard()
        let sent = item.send(.done)
        #expect(sent?.request == .tombstone(TestRow(content: "a"), version: nil))
        // The row was made, and its deletion refused.
        item.receive(.refused(provesNothingWasDone: true), to: sent)
        try item.insert("b")
        try item.delete()
        #expect(item.receive(.shown(TestRow(content: "a", version: 1)), to: item.send()) == .again(.done))
        #expect(item.send(.done)?.request == .delete(version: 1))
    }

    @Test("an insert that was never sent and a deletion of an earlier state of the row do not cancel out")
    func deletedInEditor() throws {
        var item = TestItem()
        try item.insert("a")
        #expect(try !item.delete(seen: 1))
        #expect(item.send()?.request == .delete(version: 1))
        item.receive(.shown(TestRow(content: "theirs", version: 2)), to: item.send())
        #expect(item.change?.state == .conflicted)
    }

    @Test("such a deletion that is taken back is the insert again")
    func undoDeletionInEditor() throws {
        var item = TestItem()
        try item.insert("a")
        try item.delete(seen: 1)
        item.undoDelete()
        #expect(item.change?.kind == .insert && item.change?.baseVersion == nil && item.row?.content == "a")
        #expect(item.change?.isBasedOnOlderRow == false)
    }

    /// A deletion of unknown fate, and another content that was written since, of unknown fate as well.
    private func writtenOverDeletion(_ content: String) throws -> TestItem {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        try item.insert(content)
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        return item
    }

    @Test("a tombstone with what was written after an own deletion was left by the deletion of somebody else")
    func deletedAfterOwnWrite() throws {
        var item = try writtenOverDeletion("b")
        let tombstone = TestRow(content: "b", version: 3, isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: item.send()) == .conflict(tombstone))
    }

    @Test("a tombstone with what an own deletion has deleted is that deletion's", arguments: ["b", "a"])
    func deletedBeforeOwnWrite(_ content: String) throws {
        var item = try writtenOverDeletion(content)
        let tombstone = TestRow(content: "a", version: 2, isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: item.send()) == .again(.done))
        let restore = ItemRequest.update(TestRow(content: content, version: 2), version: 2, restoring: true)
        #expect(item.send(.done)?.request == restore)
    }

    @Test("a tombstone with a content that nobody here has seen was left by the deletion of somebody else")
    func deletedAfterForeignWrite() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        item.discard()
        let tombstone = TestRow(content: "theirs", version: 3, isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: item.send()) == .done)
        #expect(item.row == nil && item.change == nil)
    }

    @Test("a deletion of what was not here, which may have arrived, is taken back to what the server has shown")
    func undoForeignDeletion() throws {
        var item = TestItem()
        try item.delete()
        item.receive(.shown(theirs), to: item.send())
        item.receive(.aborted(provesNothingWasDone: false), to: item.send(.done))
        item.undoDelete()
        #expect(item.row == theirs && item.change?.isUndo == true)
    }

    @Test("a deletion that was given up as it was carried out is no conflict with an editor opened before it")
    func givenUpDeletion() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        let deletion = item.send()
        item.discard()
        item.receive(.taken(nil), to: deletion)
        let tombstone = TestRow(content: "a", version: 2, isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: item.send()) == .again(.done))
        #expect(item.row?.content == "a")
        try item.update("b")
        #expect(item.receive(.taken(TestRow(content: "b", version: 3)), to: item.send(.done)) == .done)
        try item.update("c", seen: 1)
        #expect(item.change?.isBasedOnOlderRow == false && item.change?.baseVersion == 3)
    }

    @Test(
        "a deletion that is given up, and of which the server has kept nothing: the row is made again",
        arguments: [true, false]
    )
    func givenUpWithoutTombstone(_ isAnswered: Bool) throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        let deletion = item.send()
        item.discard()
        item.receive(isAnswered ? .taken(nil) : .aborted(provesNothingWasDone: false), to: deletion)
        if isAnswered { item.receive(.failed, to: item.send()) }
        var lookUp = LookUp.notDone
        for _ in 0..<4 where item.change != nil {
            let next = item.send(lookUp)
            lookUp = .notDone
            if case .insert? = next?.request {
                item.receive(.taken(TestRow(content: "a", version: 3)), to: next)
            } else if case .again(let done) = item.receive(.absent, to: next) {
                lookUp = done
            }
        }
        #expect(item.change == nil && item.row?.content == "a")
    }

    @Test(
        "a change of a row that is not known is given up while it is under way, and taken: what was written is given back"
    )
    func givenUpOverUnknown() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        item.receive(.hidden, to: item.send())
        item.apply(item.machine.keepMine(.hidden))
        item.receive(.unfit(version: 2), to: item.send())
        let write = item.send(.done)
        item.discard()
        let written = TestRow(content: "b", version: 3)
        #expect(item.receive(.taken(written), to: write) == .done)
        #expect(item.change == nil && item.row == written)
    }

    @Test("a deletion that was given up is remembered: the row is made again over the tombstone that it has left")
    func madeAgain() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        item.discard()
        let tombstone = TestRow(content: "a", version: 2, isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: item.send()) == .again(.done))
    }

    @Test("a deletion that took a change back and was kept knows what it deletes")
    func undoKeptUndo() throws {
        var item = TestItem()
        try item.insert("a")
        let insert = item.send()
        item.discard()
        item.receive(.taken(TestRow(content: "a", version: 1)), to: insert)
        item.receive(.hidden, to: item.send())
        #expect(item.change?.state == .conflicted)
        item.apply(item.machine.keepMine(.hidden))
        #expect(item.change?.deletedRow?.content == "a" && item.row == nil)
        item.undoDelete()
        #expect(item.row?.content == "a" && item.change?.isUndo == false)
        #expect(item.send()?.request == .lookUp || item.change?.kind == .insert)
    }

    @Test("a local row that stays is based on what was seen of the server, not on what a pull has brought since")
    func keptLocal() throws {
        for isRefused in [true, false] {
            var item = TestItem(TestRow(content: "a", version: 1))
            try item.update("b")
            let sent = item.send()
            item.receive(isRefused ? .refused(provesNothingWasDone: true) : .shown(theirs), to: sent)
            item.pull(TestRow(content: "not seen", version: 3))
            item.apply(item.machine.keepLocal(isRefused ? .refused : .row(theirs)))
            #expect(item.change == nil && item.row == TestRow(content: "b", version: isRefused ? 1 : 2))
        }
    }

    @Test("an insert that has made the row is not made again over the deletion of somebody else")
    func deletedAfterOwnInsert() throws {
        var item = TestItem()
        try item.insert("a")
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        try item.delete()
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        try item.insert("b")
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        let tombstone = TestRow(content: "b", version: 2, isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: item.send()) == .conflict(tombstone))
    }
}
