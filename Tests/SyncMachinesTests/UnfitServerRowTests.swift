import SyncMachines
import Testing

@Suite("A row of the server that cannot be read")
struct UnfitServerRowTests {
    private let base = TestRow(content: "a", version: 1)

    @Test("is in conflict, and gone over in its version when that is decided", arguments: [false, true])
    func keepMine(_ deletes: Bool) throws {
        var item = TestItem(base)
        if deletes { try item.delete() } else { try item.update("b") }
        #expect(item.receive(.unfit(version: 2), to: item.send()) == .hiddenConflict)
        #expect(item.change?.sent.isEmpty == true, "what was based on version 1 cannot succeed any more")
        item.apply(item.machine.keepMine(.hidden))
        let lookUp = item.send()
        #expect(lookUp?.request == .lookUp)
        #expect(item.receive(.unfit(version: 2), to: lookUp) == .again(.done))
        let write = item.send(.done)
        #expect(
            write?.request
                == (deletes
                    ? .delete(version: 2) : .update(TestRow(content: "b", version: 2), version: 2, restoring: false))
        )
        // It is changed once more meanwhile: that was decided by nobody.
        #expect(item.receive(.unfit(version: 3), to: write) == .hiddenConflict)
        item.apply(item.machine.keepMine(.hidden))
        #expect(item.receive(.unfit(version: 3), to: item.send()) == .again(.done))
        #expect(item.receive(.taken(nil), to: item.send(.done)) == .done)
        #expect(item.change == nil && item.machine.needsRow != deletes)
    }

    @Test(
        "is gone over as was decided when it names no version, also by the push after one that was cut off",
        arguments: [false, true]
    )
    func keepMineUnversioned(_ deletes: Bool) throws {
        var item = TestItem(base)
        if deletes { try item.delete() } else { try item.update("b") }
        #expect(item.receive(.unfit(version: nil), to: item.send()) == .hiddenConflict)
        item.apply(item.machine.keepMine(.hidden))
        for isCut in [true, true, false] {
            let lookUp = item.send()
            #expect(lookUp?.request == .lookUp)
            #expect(item.receive(.unfit(version: nil), to: lookUp) == .again(.done))
            let write = item.send(.done)
            #expect(
                write?.request
                    == (deletes
                        ? .delete(version: nil)
                        : .update(TestRow(content: "b", version: 1), version: nil, restoring: false))
            )
            guard !isCut else {
                #expect(item.receive(.aborted(provesNothingWasDone: false), to: write) == .waits)
                continue
            }
            // It was answered, and once is what was decided.
            #expect(item.receive(.unfit(version: nil), to: write) == .hiddenConflict)
        }
        #expect(item.change?.isForced == false)
    }

    @Test("is left to the server, and asked for, when that is decided")
    func takeServer() throws {
        var item = TestItem(base)
        try item.update("b")
        item.receive(.unfit(version: 2), to: item.send())
        item.apply(item.machine.takeServer(.hidden))
        #expect(item.change == nil && item.machine.needsRow)
    }

    @Test("is asked for when the change is given up that was to go over it: what was here before is not at hand")
    func decidedAndDiscarded() throws {
        var item = TestItem(base)
        try item.update("b")
        item.receive(.unfit(version: 2), to: item.send())
        item.apply(item.machine.keepMine(.hidden))
        item.discard()
        #expect(item.change == nil && item.row == nil && item.machine.needsRow)
    }

    @Test("is gone over by what was decided, and nothing that is written later by what was edited meanwhile")
    func editedMeanwhile() throws {
        var item = TestItem(base)
        try item.update("b")
        item.receive(.unfit(version: 2), to: item.send())
        item.apply(item.machine.keepMine(.hidden))
        #expect(item.receive(.unfit(version: 2), to: item.send()) == .again(.done))
        let write = item.send(.done)
        try item.update("c")
        #expect(item.receive(.taken(TestRow(content: "b", version: 3)), to: write) == .waits)
        let theirs = TestRow(content: "theirs", version: 4)
        #expect(item.receive(.shown(theirs), to: item.send()) == .conflict(theirs))
    }

    @Test("is no conflict when it is the one that the change is based on, and refuses that once only")
    func isBase() throws {
        var item = TestItem(base)
        try item.update("b")
        item.receive(.failed, to: item.send())
        let lookUp = item.send()
        #expect(lookUp?.request == .lookUp)
        #expect(item.receive(.unfit(version: 1), to: lookUp) == .again(.done))
        #expect(item.receive(.unfit(version: 1), to: item.send(.done)) == .parked)
    }

    @Test("is deleted where it may be what the own insert has made")
    func takenBack() throws {
        var item = TestItem()
        try item.insert("a")
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        try item.delete()
        #expect(item.receive(.unfit(version: 1), to: item.send()) == .hiddenConflict)
        item.apply(item.machine.keepMine(.hidden))
        let lookUp = item.send()
        #expect(lookUp?.request == .lookUp)
        #expect(item.receive(.unfit(version: 1), to: lookUp) == .again(.done))
        #expect(item.send(.done)?.request == .delete(version: 1))
    }

    @Test("ends what takes a change back whose row is not known: there is nothing to be sent, and it is asked for")
    func unknownUndo() throws {
        var item = TestItem()
        try item.insert("a")
        item.receive(.hidden, to: item.send())
        item.apply(item.machine.keepMine(.hidden))
        item.discard()
        #expect(item.row == nil && item.change?.isUndo == true)
        let lookUp = item.send()
        #expect(lookUp?.request == .lookUp)
        #expect(item.receive(.unfit(version: 2), to: lookUp) == .done)
        #expect(item.change == nil && item.row == nil && item.machine.needsRow)
    }

    @Test("is left as it is by that when it is kept, also where something may still arrive", arguments: [false, true])
    func keepUnknownUndo(isDiscarded: Bool) throws {
        var item = TestItem(base)
        try item.update("b")
        item.receive(.unfit(version: 2), to: item.send())
        item.apply(item.machine.keepMine(.hidden))
        item.receive(.unfit(version: 2), to: item.send())
        // This change of version 2 may arrive later.
        item.receive(.aborted(provesNothingWasDone: false), to: item.send(.done))
        item.discard()
        #expect(item.row == nil && item.change?.isUndo == true)
        #expect(item.receive(.unfit(version: 2), to: item.send()) == .hiddenConflict)
        item.apply(isDiscarded ? item.machine.discard() : item.machine.keepMine(.hidden))
        #expect(item.change == nil && item.row == nil && item.machine.needsRow)
        #expect(item.machine.memory.sent.map(\.kind) == [.update])
    }

    @Test("is deleted where the deletion of what is not known was to be taken back")
    func keepUnknownDeletion() throws {
        var item = TestItem(base)
        try item.delete()
        item.receive(.hidden, to: item.send())
        item.apply(item.machine.keepMine(.hidden))
        try item.insert("again")
        item.discard()
        #expect(item.change?.kind == .delete && item.change?.isUndo == true)
        #expect(item.receive(.hidden, to: item.send()) == .hiddenConflict)
        item.apply(item.machine.keepMine(.hidden))
        #expect(item.change?.isUndo == true || item.change?.deletedRow != nil)
        item.receive(.unfit(version: 2), to: item.send())
        #expect(item.send(.done)?.request == .delete(version: 2))
    }

    @Test("is left to the server: what was changed and then deleted is as it was before the change")
    func takeServerOverDeletion() throws {
        var item = TestItem(base)
        try item.update("b")
        try item.delete()
        item.receive(.unfit(version: 2), to: item.send())
        item.apply(item.machine.takeServer(.hidden))
        #expect(item.row?.content == "a")
    }

    @Test("is left to the server: what was inserted and then deleted does not come back")
    func takeServerOverDeletedInsert() throws {
        var item = TestItem()
        try item.insert("a")
        item.receive(.unfit(version: 1), to: item.send())
        try item.delete()
        item.receive(.unfit(version: 1), to: item.send())
        item.apply(item.machine.takeServer(.hidden))
        #expect(item.row == nil)
    }
}
