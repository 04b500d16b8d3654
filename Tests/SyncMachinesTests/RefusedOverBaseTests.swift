import SyncMachines
import Testing

/// The server refuses, and shows the very row that the request named: nothing was in the way but what the change says.
@Suite("A change that is refused over the row that it names")
struct RefusedOverBaseTests {
    private let tombstone = TestRow(content: "a", version: 2, isDeleted: true)

    /// A row that was deleted here, and made again.
    private func madeAgain() throws -> TestItem {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        _ = item.send()
        item.undoDelete()
        try item.update("b")
        #expect(item.receive(.shown(tombstone), to: item.send()) == .again(.done))
        return item
    }

    @Test("is laid aside when it brings a deleted row back, and is no conflict with the deletion")
    func restore() throws {
        var item = try madeAgain()
        let restore = item.send(.done)
        #expect(restore?.request == .update(TestRow(content: "b", version: 2), version: 2, restoring: true))
        #expect(item.receive(.shown(tombstone), to: restore) == .parked)
        #expect(item.row?.content == "b" && item.change?.sent.isEmpty == true)
        item.discard()
        #expect(item.row == nil && item.change == nil)
    }

    @Test("is laid aside where the deleted row has the content already, and where a step before is refused")
    func steps() throws {
        var item = try madeAgain()
        try item.update("a")
        #expect(item.receive(.shown(tombstone), to: item.send(.done)) == .parked)

        item = try madeAgain()
        let fill = item.machine.prepare(item.row, after: .done, restoresInSteps: true)
        #expect(fill?.request == .fillTombstone(TestRow(content: "b", version: 2), version: 2))
        #expect(item.receive(.shown(tombstone), to: fill) == .parked)
    }

    @Test("is laid aside when it takes another one back, and ends with a second decision")
    func undo() throws {
        var item = TestItem()
        try item.insert("a")
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        item.discard()
        let mine = TestRow(content: "a", version: 1)
        #expect(item.receive(.shown(mine), to: item.send()) == .again(.done))
        let deletion = item.send(.done)
        #expect(deletion?.request == .delete(version: 1))
        #expect(item.receive(.shown(mine), to: deletion) == .parked)
        item.discard()
        #expect(item.change == nil && item.row == mine)
    }

    @Test("is done when the row is as it was to be")
    func nothingToDo() throws {
        let there = TestRow(content: "a", version: 1)
        var item = TestItem(there)
        try item.update("b")
        try item.update("a")
        #expect(item.receive(.shown(there), to: item.send()) == .done)
        #expect(item.row == there)
    }
}

/// Nothing that goes over such a row could say which one it means.
@Suite("A row that an answer shows without a version")
struct UnnamedRowTests {
    @Test("is looked up, and what goes over it names the version that the look-up has shown", arguments: [false, true])
    func lookedUp(isDeletion: Bool) throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        if isDeletion { try item.delete() } else { try item.update("c") }
        #expect(item.receive(.shown(TestRow(content: "b")), to: item.send()) == .again(.notDone))
        let lookUp = item.send()
        #expect(lookUp?.request == .lookUp)
        #expect(item.receive(.shown(TestRow(content: "b", version: 2)), to: lookUp) == .again(.done))
        let request = item.send(.done)?.request
        #expect(
            request
                == (isDeletion
                    ? .delete(version: 2) : .update(TestRow(content: "c", version: 2), version: 2, restoring: false))
        )
    }

    @Test("that was decided about is gone over as long as it is that row, and is a conflict again when it is not")
    func decided() throws {
        for isSame in [true, false] {
            var item = TestItem(TestRow(content: "a"))
            try item.update("mine")
            let theirs = TestRow(content: "theirs")
            #expect(item.receive(.shown(theirs), to: item.send()) == .conflict(theirs))
            item.apply(item.machine.keepMine(.row(theirs)))
            let there = isSame ? theirs : TestRow(content: "newer", version: 7)
            let lookUp = item.send()
            #expect(lookUp?.request == .lookUp)
            #expect(item.receive(.shown(there), to: lookUp) == (isSame ? .again(.done) : .conflict(there)))
        }
    }

    @Test("is no conflict where nobody has changed what the change is based on")
    func onlyTheVersion() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        #expect(item.receive(.shown(TestRow(content: "a")), to: item.send()) == .again(.notDone))
        #expect(item.receive(.shown(TestRow(content: "a", version: 2)), to: item.send()) == .again(.done))
        #expect(item.send(.done)?.request == .update(TestRow(content: "b", version: 2), version: 2, restoring: false))
    }

    @Test("as a tombstone that a server does not bring back ends the change, and does not go on for ever")
    func refusedRestore() throws {
        let tombstone = TestRow(content: "a", isDeleted: true)
        var item = TestItem(TestRow(content: "a"))
        try item.update("mine")
        #expect(item.receive(.shown(tombstone), to: item.send()) == .conflict(tombstone))
        item.apply(item.machine.keepMine(.row(tombstone)))
        #expect(item.receive(.shown(tombstone), to: item.send()) == .again(.done))
        let restore = item.send(.done)
        #expect(restore?.request == .update(TestRow(content: "mine"), version: nil, restoring: true))
        #expect(item.receive(.shown(tombstone), to: restore) == .parked)
    }

    @Test("as the tombstone that got its content is looked up, and brought back")
    func filled() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("mine")
        let tombstone = TestRow(content: "a", version: 2, isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: item.send()) == .conflict(tombstone))
        item.apply(item.machine.keepMine(.row(tombstone)))
        let fill = item.machine.prepare(item.row, restoresInSteps: true)
        #expect(item.receive(.taken(TestRow(content: "mine", isDeleted: true)), to: fill) == .again(.notDone))
        let lookUp = item.machine.prepare(item.row, restoresInSteps: true)
        #expect(lookUp?.request == .lookUp)
        let filled = TestRow(content: "mine", version: 3, isDeleted: true)
        guard case .again(let found) = item.receive(.shown(filled), to: lookUp) else {
            Issue.record("\(String(describing: item.change))")
            return
        }
        let restore = item.machine.prepare(item.row, after: found, restoresInSteps: true)
        #expect(restore?.request == .update(TestRow(content: "mine", version: 3), version: 3, restoring: true))
    }
}
