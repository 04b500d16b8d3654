import SyncMachines
import Testing

/// Somebody else's row was seen in a conflict, and the local one stays beside it.
@Suite("A row that was kept over the server's")
struct KeptRowTests {
    private let theirs = TestRow(content: "theirs", version: 2, stamp: 1)

    private func kept() throws -> TestItem {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("mine")
        item.receive(.shown(theirs), to: item.send())
        item.apply(item.machine.keepLocal(.row(theirs)))
        #expect(item.row?.content == "mine" && item.change == nil)
        return item
    }

    @Test("stays when a pull brings the row that was seen, and goes when it brings another")
    func pulled() throws {
        var item = try kept()
        #expect(item.pull(theirs) == .passOver)
        #expect(item.row?.content == "mine")
        item.pull(TestRow(content: "newer", version: 3))
        #expect(item.row == TestRow(content: "newer", version: 3) && item.machine.memory.sent.isEmpty)
    }

    @Test("comes as the server has it when it was purged meanwhile")
    func purged() throws {
        var item = try kept()
        item.row = nil
        #expect(item.pull(theirs) == .apply)
        #expect(item.row == theirs)
    }

    @Test("is no obstacle for a change that waits when a pull brings the row that was seen")
    func pulledBeneath() throws {
        var item = try kept()
        try item.update("later")
        #expect(item.pull(theirs) == .passOver)
        #expect(item.change?.baseVersion == 2 && item.change?.shown == nil)
    }

    @Test("is not what a change is taken back to that may have gone over the server's row")
    func takenBack() throws {
        var item = try kept()
        try item.update("later")
        // A request is prepared without a look at what is remembered.
        let memory = item.machine.memory
        item.machine.memory = ItemMemory()
        let request = item.send()
        item.machine.memory = memory
        #expect(request?.request == .update(TestRow(content: "later", version: 2), version: 2, restoring: false))
        item.discard()
        #expect(item.row == theirs && item.change?.isUndo == true && item.change?.base == theirs)
    }

    @Test("is gone, as at the server, when a change is taken back that may have brought a deleted one back")
    func takenBackOverTombstone() throws {
        let tombstone = TestRow(content: "a", version: 2, isDeleted: true)
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("mine")
        item.receive(.shown(tombstone), to: item.send())
        item.apply(item.machine.keepLocal(.row(tombstone)))
        try item.update("later")
        let memory = item.machine.memory
        item.machine.memory = ItemMemory()
        _ = item.send()
        item.machine.memory = memory
        item.discard()
        #expect(item.row == nil && item.change?.kind == .delete)
        #expect(item.change?.base == tombstone && item.change?.baseVersion == 2)
    }

    @Test("is asked for when a pull had brought a newer one before the decision, and only then")
    func decidedLate() throws {
        for version in [2, 3] {
            var item = TestItem(TestRow(content: "a", version: 1))
            try item.update("mine")
            item.receive(.shown(theirs), to: item.send())
            item.pull(version == 2 ? theirs : TestRow(content: "newer", version: version))
            item.apply(item.machine.keepLocal(.row(theirs)))
            #expect(item.machine.needsRow == (version == 3))
        }
    }

    @Test("is made anew by the next change where the server has nothing, and the same conflict is not told again")
    func nothingThere() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("mine")
        #expect(item.receive(.absent, to: item.send()) == .conflict(nil))
        item.apply(item.machine.keepLocal(.nothing))
        #expect(item.row?.content == "mine" && item.change == nil)
        try item.update("later")
        var seesMemory = item
        #expect(seesMemory.send()?.request == .insert(TestRow(content: "later", version: 1)))
        // A request is prepared without a look at what is remembered.
        let memory = item.machine.memory
        item.machine.memory = ItemMemory()
        let request = item.send()
        item.machine.memory = memory
        #expect(item.receive(.absent, to: request) == .again(.done))
        let insert = item.send(.done)
        #expect(insert?.request == .insert(TestRow(content: "later", version: 1)))
        #expect(item.receive(.taken(TestRow(content: "later", version: 5)), to: insert) == .done)
        #expect(item.row?.version == 5 && item.machine.memory.sent.isEmpty)
    }

    @Test("over nothing is a conflict where there is another row by now, and the row of a pull that brings it before")
    func madeByOthers() throws {
        for isPulled in [true, false] {
            var item = TestItem(TestRow(content: "a", version: 1))
            try item.update("mine")
            item.receive(.absent, to: item.send())
            item.apply(item.machine.keepLocal(.nothing))
            if isPulled {
                #expect(item.pull(theirs) == .apply)
                #expect(item.row == theirs && item.machine.memory.sent.isEmpty)
                try item.update("later")
                #expect(item.change?.kind == .update && item.change?.base == theirs)
            } else {
                try item.update("later")
                #expect(item.receive(.shown(theirs), to: item.send()) == .conflict(theirs))
                #expect(item.row?.content == "later")
            }
        }
    }

    @Test("over nothing is deleted without a word when it was deleted here later")
    func deletedOverNothing() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("mine")
        item.receive(.absent, to: item.send())
        item.apply(item.machine.keepLocal(.nothing))
        try item.delete()
        #expect(item.receive(.absent, to: item.send()) == .done)
        #expect(item.row == nil && item.change == nil)
    }

    @Test("was purged: an insert of its id that is deleted while it is under way meets what was there as a conflict")
    func deletedWhileInserted() throws {
        var item = TestItem(TestRow(content: "before", version: 1))
        try item.update("mine")
        // The answer shows no version, so that the row is known by its content.
        item.receive(.taken(TestRow(content: "mine")), to: item.send())
        #expect(item.change == nil && item.machine.memory.hasSent)
        item.row = nil
        try item.insert("anew")
        // A request is prepared without a look at what is remembered.
        let memory = item.machine.memory
        item.machine.memory = ItemMemory()
        let insert = item.send()
        item.machine.memory = memory
        try item.delete()
        let there = TestRow(content: "mine", version: 2)
        #expect(item.receive(.shown(there), to: insert) == .waits)
        #expect(item.change?.kind == .delete && item.change?.baseVersion == nil)
        #expect(item.receive(.shown(there), to: item.send(.done)) == .conflict(there))
    }

    @Test("is a change over the row that is found unchanged when the server was said to be set up anew")
    func reset() throws {
        var item = try kept()
        try item.update("later")
        let (outcome, _) = item.machine.reset(onto: .row(theirs), item.row, TestComparison())
        #expect(outcome == .again(.done))
        #expect(
            item.send(.done)?.request == .update(TestRow(content: "later", version: 2), version: 2, restoring: false)
        )
    }

    @Test(
        "is what a change is based on where the row had been removed, because what waited was to take its insert back",
        arguments: [false, true]
    )
    func keptInsteadOfTakenBack(deletes: Bool) throws {
        var item = TestItem()
        try item.insert("mine")
        let insert = item.send()
        item.discard()
        #expect(item.receive(.taken(TestRow(content: "mine", version: 1)), to: insert) == .waits)
        #expect(item.receive(.refused(provesNothingWasDone: true), to: item.send()) == .parked)
        item.apply(item.machine.keepLocal(.refused))
        item.row = TestRow(content: "kept")
        if deletes { try item.delete() } else { try item.update("later") }
        #expect(
            item.send()?.request
                == (deletes
                    ? .delete(version: 1) : .update(TestRow(content: "later"), version: 1, restoring: false))
        )
    }

    /// A row whose change was dropped for one of others, deleted in vain, and the deletion taken back.
    private func deletedInVain(_ item: TestItem) throws -> TestItem {
        var item = item
        try item.delete()
        item.receive(.refused(provesNothingWasDone: true), to: item.send())
        item.undoDelete()
        #expect(item.change == nil && item.row?.content == "b")
        return item
    }

    @Test("stays kept over a row when its deletion was to be sent in vain and is taken back")
    func deletionOverRowTakenBack() throws {
        let theirs = TestRow(content: "theirs", version: 2)
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        item.receive(.shown(theirs), to: item.send())
        item.apply(item.machine.keepLocal(.row(theirs)))
        item = try deletedInVain(item)
        #expect(item.pull(theirs) == .passOver && item.row?.content == "b")
        try item.update("c")
        #expect(item.send()?.request == .update(TestRow(content: "c", version: 2), version: 2, restoring: false))
    }

    @Test("stays kept where there is nothing when its deletion was to be sent in vain and is taken back")
    func deletionOverNothingTakenBack() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        item.receive(.absent, to: item.send())
        item.apply(item.machine.keepLocal(.nothing))
        item = try deletedInVain(item)
        #expect(item.machine.memory.staysWithoutRow)
        try item.update("c")
        #expect(item.send()?.request == .insert(TestRow(content: "c", version: 1)))
        var ended = item
        try ended.delete()
        ended.receive(.absent, to: ended.send())
        #expect(ended.change == nil && ended.machine.memory.sent.isEmpty)
    }

    @Test("goes on expecting what was sent when a deletion that took it over is taken back")
    func deletionOverAttemptTakenBack() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        item.receive(.failed, to: item.send())
        item.apply(item.machine.keepLocal(.hidden))
        let before = item.machine.memory.sent
        #expect(!before.isEmpty)
        item = try deletedInVain(item)
        #expect(item.machine.memory.sent == before)
    }

    @Test("is deleted for good when an insert of its id may still arrive, and another one was not sent")
    func insertMayArrive() throws {
        var item = TestItem()
        try item.insert("a")
        item.receive(.failed, to: item.send())
        item.machine.drop()
        item.row = nil
        try item.insert("b")
        #expect(try !item.delete())
        #expect(item.change?.kind == .delete)
        #expect(item.receive(.shown(TestRow(content: "a", version: 1)), to: item.send()) == .again(.done))
        #expect(item.send(.done)?.request == .delete(version: 1))
    }

    @Test("is none where an insert that was given up is deleted by decision, over a row that was not shown")
    func decidedDeletionTakenBack() throws {
        var item = TestItem()
        try item.insert("a")
        item.receive(.failed, to: item.send())
        item.discard()
        #expect(item.receive(.hidden, to: item.send()) == .hiddenConflict)
        item.apply(item.machine.keepMine(.hidden))
        item.undoDelete()
        #expect(item.row == nil && !item.machine.memory.staysWithoutRow)
    }
}
