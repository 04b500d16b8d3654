import SyncMachines
import Testing

/// A change was sent, nobody knows what became of it, and it was dropped: the local row stays as it is.
@Suite("What a dropped change has sent")
struct DroppedChangeTests {
    /// An attempt that may still arrive, another one that was refused, and the decision.
    private func dropped(_ item: TestItem) -> TestItem {
        var item = item
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        item.receive(.refused(provesNothingWasDone: true), to: item.send())
        #expect(item.change?.state == .parked)
        item.apply(item.machine.keepLocal(.refused))
        #expect(item.change == nil)
        return item
    }

    private func droppedUpdate() throws -> TestItem {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        return dropped(item)
    }

    private func droppedInsert() throws -> TestItem {
        var item = TestItem()
        try item.insert("a")
        return dropped(item)
    }

    private func droppedDeletion() throws -> TestItem {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        return dropped(item)
    }

    private let arrived = TestRow(content: "b", version: 2)

    @Test("is no conflict for the next change when it has arrived")
    func nextChange() throws {
        var item = try droppedUpdate()
        try item.update("c")
        #expect(item.receive(.shown(arrived), to: item.send()) == .again(.done))
        #expect(item.send(.done)?.request == .update(TestRow(content: "c", version: 2), version: 2, restoring: false))
    }

    @Test("is no conflict for an editor when a pull has brought it")
    func pulled() throws {
        var item = try droppedUpdate()
        item.pull(arrived)
        #expect(item.row == arrived && item.machine.memory.sent.isEmpty)
        try item.update("c", seen: 1)
        #expect(item.change?.baseVersion == 2 && item.change?.isBasedOnOlderRow == false)
    }

    @Test("does not arrive after a change that puts back what was there: that one is written all the same")
    func putBack() throws {
        var item = try droppedUpdate()
        try item.update("a")
        let there = TestRow(content: "a", version: 1)
        item.receive(.failed, to: item.send())
        #expect(item.receive(.shown(there), to: item.send()) == .again(.done))
        #expect(item.send(.done)?.request == .update(TestRow(content: "a", version: 1), version: 1, restoring: false))
    }

    @Test("is looked into by the next push: a pull does not base the next change on a row like the one that was here")
    func pulledOverNextChange() throws {
        var item = try droppedUpdate()
        try item.update("c")
        #expect(item.pull(TestRow(content: "b", version: 3)) == .passOver)
        #expect(item.change?.baseVersion == 1)
    }

    @Test("does not bring an item to life that is deleted later")
    func deleted() throws {
        var item = try droppedInsert()
        try item.delete()
        #expect(item.send()?.request == .tombstone(TestRow(content: "a"), version: nil))
    }

    @Test("does not bring it to life when the deletion was prepared before that was known")
    func deletedAfterLookUp() throws {
        var item = try droppedInsert()
        let memory = item.machine.memory
        item.machine.memory = .init()
        try item.delete()
        let lookUp = item.send()
        #expect(lookUp?.request == .lookUp)
        item.machine.memory = memory
        #expect(item.receive(.absent, to: lookUp) == .again(.done))
        #expect(item.send(.done)?.request == .tombstone(TestRow(content: "a"), version: nil))
    }

    @Test("does not bring it to life either when it is deleted because the server has nothing so far")
    func deletedInstead() throws {
        var item = try droppedInsert()
        try item.update("c")
        #expect(item.receive(.absent, to: item.send()) == .conflict(nil))
        item.apply(item.machine.deleteInstead(item.row, .nothing))
        #expect(item.row == nil)
        #expect(item.send()?.request == .tombstone(TestRow(content: "a"), version: nil))
    }

    @Test("may have deleted the row: an item that is made again brings its own tombstone back, not that of others")
    func deletion() throws {
        for (content, isOwn) in [("a", true), ("theirs", false)] {
            var item = try droppedDeletion()
            try item.insert("b")
            let tombstone = TestRow(content: content, version: 2, isDeleted: true)
            let outcome = item.receive(.shown(tombstone), to: item.send())
            #expect(outcome == (isOwn ? .again(.done) : .conflict(tombstone)))
        }
    }

    @Test("is forgotten when it can arrive no more")
    func forgotten() throws {
        var item = try droppedUpdate()
        item.pull(TestRow(content: "a", version: 1))
        #expect(item.machine.memory.sent.map(\.kind) == [.update, .none], "it is still the version that it was for")
        item.pull(TestRow(content: "theirs", version: 2))
        #expect(item.machine.memory.isEmpty)

        var inserted = try droppedInsert()
        inserted.pull(TestRow(content: "theirs", version: 1))
        #expect(inserted.machine.memory.isEmpty)
    }

    /// The row of another device was seen, and the local one kept over it.
    @Test("is no part of what the next change is based on: a deletion that came late is known by the server's row")
    func keptOverRow() throws {
        let theirs = TestRow(content: "theirs", version: 2)
        for (content, isOwn) in [("theirs", true), ("b", false)] {
            var item = TestItem(TestRow(content: "a", version: 1))
            try item.update("b")
            item.receive(.shown(theirs), to: item.send())
            item.apply(item.machine.keepLocal(.row(theirs)))
            #expect(item.row == TestRow(content: "b", version: 2))
            try item.delete()
            item.receive(.aborted(provesNothingWasDone: false), to: item.send())
            #expect(item.change?.base == theirs)
            try item.insert("c")
            let tombstone = TestRow(content: content, version: 3, isDeleted: true)
            let outcome = item.receive(.shown(tombstone), to: item.send())
            #expect(outcome == (isOwn ? .again(.done) : .conflict(tombstone)))
        }
    }

    @Test(
        "and the row that was kept are out of the way when the change after them is given up",
        arguments: [true, false]
    )
    func discardedAfterKept(_ wasRefused: Bool) throws {
        let theirs = TestRow(content: "theirs", version: 2)
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        item.receive(.shown(theirs), to: item.send())
        item.apply(item.machine.keepLocal(.row(theirs)))
        try item.update("c")
        if wasRefused { item.receive(.refused(provesNothingWasDone: true), to: item.send()) }
        item.discard()
        #expect(item.change == nil && item.row == (wasRefused ? theirs : TestRow(content: "b", version: 2)))
        try item.update("d")
        #expect(item.send()?.request == .update(TestRow(content: "d", version: 2), version: 2, restoring: false))
    }

    @Test("stays with the next change, and with the one after that when it is dropped as well")
    func twice() throws {
        var item = try droppedUpdate()
        try item.update("c")
        item = dropped(item)
        #expect(item.machine.memory.sent.map(\.content?.content) == ["b", "c", "a"])
    }
}
