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

    /// Others have deleted the row, and the local one was kept over that.
    private func keptOverTombstone() throws -> TestItem {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        #expect(item.receive(.shown(tombstone), to: item.send()) == .conflict(tombstone))
        item.apply(item.machine.keepLocal(.row(tombstone)))
        #expect(item.change == nil && item.row == TestRow(content: "b", version: 2))
        return item
    }

    @Test("is brought back by the next change, unless it was deleted again")
    func changed() throws {
        var item = try keptOverTombstone()
        try item.update("c")
        let sent = item.send()
        #expect(sent?.request == restoring("c"))
        let later = TestRow(content: "a", version: 4, isDeleted: true)
        #expect(item.receive(.shown(later), to: sent) == .conflict(later))
    }

    @Test("can be deleted, which can be undone, made again, and given up")
    func deleted() throws {
        var item = try keptOverTombstone()
        try item.delete()
        item.undoDelete()
        #expect(item.change == nil && item.row == TestRow(content: "b", version: 2))
        try item.delete()
        let lookUp = item.send()
        #expect(lookUp?.request == .lookUp)
        var ended = item
        #expect(ended.receive(.shown(tombstone), to: lookUp) == .done)
        try item.insert("c")
        let sent = item.send()
        #expect(sent?.request == restoring("c", version: nil))
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
        #expect(item.send()?.request == .update(TestRow(content: "c", version: 2), version: 2, restoring: false))
    }

    @Test("is there again when its deletion is undone, where tables keep no versions")
    func withoutVersion() throws {
        var item = try keptOverTombstone()
        item.row?.version = nil
        try item.delete()
        item.undoDelete()
        #expect(item.row == TestRow(content: "b"))
    }

    @Test("is brought back by the next change after the server has refused that, and not changed as if it were there")
    func refusedRestore() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.delete()
        item.receive(.taken(nil), to: item.send())
        try item.insert("b")
        #expect(item.receive(.shown(tombstone), to: item.send()) == .again(.done))
        item.receive(.refused(provesNothingWasDone: true), to: item.send(.done))
        item.apply(item.machine.keepLocal(.refused))
        try item.update("c")
        #expect(item.send()?.request == restoring("c"))
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
        #expect(item.receive(.hidden, to: item.send(.done)) == .hiddenConflict)
        item.apply(item.machine.keepLocal(.hidden))
        try item.update("c")
        #expect(item.receive(.shown(tombstone), to: item.send()) == .conflict(tombstone))
    }
}
