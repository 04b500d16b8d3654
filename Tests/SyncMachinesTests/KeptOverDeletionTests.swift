import SyncMachines
import Testing

/// Its change was dropped, the local row stays as it is, and on the server it is deleted.
@Suite("A row that was kept over a deletion")
struct KeptOverDeletionTests {
    /// What the deletion has left.
    private let tombstone = TestRow(content: "a", version: 2, isDeleted: true)

    /// One that brings the row back.
    private func restoring(_ content: String, version: Int? = 2) -> ItemRequest<TestRow> {
        .update(TestRow(content: content, version: version), version: 2, restoring: true)
    }

    /// Sends a change without looking into what is remembered, as the engine does with one that has a version.
    private func send(_ item: inout TestItem) -> RequestUnderWay<TestRow>? {
        let memory = item.machine.memory
        item.machine.memory = .init()
        defer { item.machine.memory = memory }
        return item.send()
    }

    /// Others have deleted the row, and the local one was kept over that.
    private func keptOverTombstone() throws -> TestItem {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        #expect(item.receive(.shown(tombstone), to: item.send()) == .conflict(tombstone))
        item.apply(item.machine.keepLocal(.row(tombstone)))
        #expect(item.change == nil && item.row == TestRow(content: "b", version: 1))
        return item
    }

    @Test("is brought back by the next change, unless it was deleted again", arguments: [true, false])
    func changed(isRemembered: Bool) throws {
        var item = try keptOverTombstone()
        try item.update("c")
        var sent = isRemembered ? item.send() : send(&item)
        if !isRemembered {
            #expect(sent?.request == .update(TestRow(content: "c", version: 1), version: 1, restoring: false))
            #expect(item.receive(.shown(tombstone), to: sent) == .again(.done))
            sent = item.send(.done)
        }
        guard case .update(let row, version: 2, restoring: true)? = sent?.request, row.content == "c" else {
            Issue.record("it brings nothing back")
            return
        }
        let later = TestRow(content: "a", version: 4, isDeleted: true)
        #expect(item.receive(.shown(later), to: sent) == .conflict(later))
    }

    @Test("can be deleted, which can be undone, made again, and given up")
    func deleted() throws {
        var item = try keptOverTombstone()
        try item.delete()
        item.undoDelete()
        #expect(item.change == nil && item.row == TestRow(content: "b", version: 1))
        try item.delete()
        var ended = item
        #expect(ended.receive(.shown(tombstone), to: send(&ended)) == .done)
        try item.insert("c")
        #expect(item.receive(.shown(tombstone), to: send(&item)) == .again(.done))
        let sent = item.send(.done)
        #expect(sent?.request == .update(TestRow(content: "c"), version: 2, restoring: true))
        item.receive(.refused(provesNothingWasDone: true), to: sent)
        item.discard()
        #expect(item.change == nil && item.row == nil)
    }

    @Test("has nothing to do with the row of a server that was set up anew")
    func reset() throws {
        var item = try keptOverTombstone()
        item.machine.memory.forgetVersions()
        item.row = TestRow(content: "other", version: 2)
        try item.update("c")
        #expect(item.receive(.shown(tombstone), to: send(&item)) == .conflict(tombstone))
    }

    @Test("is one as any other once what waits for it is given up for what a server has that was set up anew")
    func givenUpForReset() throws {
        var item = try keptOverTombstone()
        try item.update("c")
        item.apply(item.machine.giveUp(for: nil))
        #expect(item.change == nil && item.row == nil && item.machine.memory.sent.isEmpty)
    }

    /// Some servers change a tombstone, which stays one.
    @Test("is brought back by the next change after the server has refused that", arguments: [true, false])
    func refusedRestore(changesTombstones: Bool) throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        item.receive(.taken(nil), to: item.send())
        try item.insert("b")
        #expect(item.receive(.shown(tombstone), to: item.send()) == .again(.done))
        item.receive(.refused(provesNothingWasDone: true), to: item.send(.done))
        item.apply(item.machine.keepLocal(.refused))
        try item.update("c")
        let changed = changesTombstones ? TestRow(content: "c", version: 3, isDeleted: true) : tombstone
        let outcome = item.receive(.shown(changed), to: send(&item))
        #expect(outcome == .again(changesTombstones ? .tombstoneFilled(editCounter: 0) : .done))
        let row = TestRow(content: "c", version: changed.version)
        #expect(item.send(.done)?.request == .update(row, version: changed.version, restoring: true))
    }

    /// An insert that was given up, after a deletion whose tombstone nobody has seen here.
    private func keptInsert(afterOwnDeletion isOwn: Bool) throws -> TestItem {
        var item = TestItem(isOwn ? TestRow(content: "a", version: 1) : nil)
        if isOwn {
            try item.delete()
            item.receive(.taken(nil), to: item.send())
        }
        try item.insert("b")
        item.receive(.failed, to: item.send())
        item.apply(item.machine.keepLocal(.refused))
        return item
    }

    @Test("is brought back over the own deletion by the next change, over none of others")
    func ownDeletion() throws {
        var item = try keptInsert(afterOwnDeletion: true)
        try item.update("c")
        let lookUp = item.send()
        #expect(lookUp?.request == .lookUp)
        // Where the server keeps no tombstones, and where it does.
        var other = item
        #expect(other.receive(.absent, to: lookUp) == .again(.done))
        #expect(other.send(.done)?.request == .insert(TestRow(content: "c")))
        #expect(item.receive(.shown(tombstone), to: lookUp) == .again(.done))
        #expect(item.send(.done)?.request == restoring("c"))

        var foreign = try keptInsert(afterOwnDeletion: false)
        try foreign.update("c")
        #expect(foreign.receive(.shown(tombstone), to: foreign.send()) == .conflict(tombstone))
    }

    @Test("is not brought back when the change after it is given up")
    func givenUp() throws {
        var item = try keptInsert(afterOwnDeletion: true)
        try item.update("c")
        item.receive(.failed, to: item.send())
        item.discard()
        #expect(item.receive(.shown(tombstone), to: item.send()) == .done)
        #expect(item.row == nil)
    }

    @Test("may have been there again and deleted by others, where there are no versions: that is a conflict")
    func restoredWithoutVersions() throws {
        let tombstone = TestRow(content: "a", isDeleted: true)
        var item = TestItem(TestRow(content: "a"))
        try item.delete()
        item.receive(.taken(nil), to: item.send(.done))
        try item.insert("b")
        item.receive(.shown(tombstone), to: item.send())
        // No version names it: it is looked up.
        #expect(item.receive(.shown(tombstone), to: item.send()) == .again(.done))
        #expect(item.receive(.hidden, to: item.send(.done)) == .hiddenConflict)
        item.apply(item.machine.keepLocal(.hidden))
        try item.update("c")
        #expect(item.receive(.shown(tombstone), to: item.send()) == .conflict(tombstone))
    }

    @Test("is there again when its deletion is taken back, also when that was to be sent in vain")
    func deletionTakenBack() throws {
        var item = try keptOverTombstone()
        try item.delete()
        item.receive(.aborted(provesNothingWasDone: true), to: item.send())
        item.undoDelete()
        #expect(item.change == nil && item.row == TestRow(content: "b", version: 1))
        try item.update("c")
        #expect(item.send()?.request == .update(TestRow(content: "c", version: 1), version: 2, restoring: true))
    }
}
