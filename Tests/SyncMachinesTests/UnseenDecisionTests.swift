import SyncMachines
import Testing

/// A change was kept over a row that the server did not show.
@Suite("A decision to go over a row that was not shown")
struct UnseenDecisionTests {
    private let theirs = TestRow(content: "theirs", version: 2)
    private let later = TestRow(content: "later", version: 3)

    /// A change, based on version 1, or a deletion.
    private func decided(_ deletes: Bool = false) throws -> TestItem {
        var item = TestItem(TestRow(content: "a", version: 1))
        if deletes { try item.delete() } else { try item.update("mine") }
        #expect(item.receive(.hidden, to: item.send()) == .hiddenConflict)
        item.apply(item.machine.keepMine(.hidden))
        return item
    }

    /// The next push has looked the row up, and goes over it.
    private func goneOver(_ item: inout TestItem) -> RequestUnderWay<TestRow>? {
        let lookUp = item.send()
        #expect(lookUp?.request == .lookUp)
        #expect(item.receive(.shown(theirs), to: lookUp) == .again(.done))
        let request = item.send(.done)
        #expect(request?.request.namedVersion == 2)
        return request
    }

    @Test("is carried out over the row that is shown next", arguments: [false, true])
    func next(_ deletes: Bool) throws {
        var item = try decided(deletes)
        let request = goneOver(&item)
        #expect(item.receive(.taken(deletes ? nil : TestRow(content: "mine", version: 3)), to: request) == .done)
        #expect(item.change == nil)
    }

    /// What became of the request that went over the row.
    enum Fate: CaseIterable { case met, lostBefore, refusedAndRetried, failed }

    @Test("says nothing of a row that others write after that", arguments: Fate.allCases, [false, true])
    func later(_ fate: Fate, _ deletes: Bool) throws {
        var item = try decided(deletes)
        var request = goneOver(&item)
        switch fate {
        case .met: break
        case .lostBefore:
            item.receive(.aborted(provesNothingWasDone: false), to: request)
            request = item.send()
        case .refusedAndRetried:
            item.receive(.refused(provesNothingWasDone: true), to: request)
            item.apply(item.machine.keepMine(.refused))
            request = item.send()
        case .failed:
            item.receive(.failed, to: request)
            request = item.send()
            #expect(request?.request == .lookUp)
        }
        #expect(item.receive(.shown(later), to: request) == .conflict(later))
        // That one was shown, and is decided about.
        item.apply(item.machine.keepMine(.row(later)))
        #expect(item.send()?.request.namedVersion == 3)
    }

    @Test("says nothing of a deletion that comes after it")
    func laterDeletion() throws {
        var item = try decided()
        let tombstone = TestRow(content: "later", version: 3, isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: goneOver(&item)) == .conflict(tombstone))
    }

    @Test("is carried out when its answer is lost: what it has written is no conflict")
    func answerLost() throws {
        var item = try decided()
        item.receive(.aborted(provesNothingWasDone: false), to: goneOver(&item))
        let own = TestRow(content: "mine", version: 3)
        #expect(item.receive(.shown(own), to: item.send()) == .done)
        #expect(item.change == nil && item.row == own)
    }

    @Test("is carried out when its answer is lost and the item edited since, and not over what others put on top of it")
    func answerLostAndEdited() throws {
        for isOnTop in [false, true] {
            var item = try decided()
            item.receive(.aborted(provesNothingWasDone: false), to: goneOver(&item))
            try item.update("again")
            let own = TestRow(content: "mine", version: 3)
            let onTop = TestRow(content: "on top", version: 4)
            let answer: ItemAnswer = .shown(isOnTop ? onTop : own)
            #expect(item.receive(answer, to: item.send()) == (isOnTop ? .conflict(onTop) : .again(.done)))
        }
    }

    @Test("holds for an item that is edited when the row was named already, and under way")
    func editedUnderWay() throws {
        var item = try decided()
        let request = goneOver(&item)
        try item.update("again")
        #expect(item.receive(.taken(TestRow(content: "mine", version: 3)), to: request) == .waits)
        #expect(item.send()?.request == .update(TestRow(content: "again", version: 3), version: 3, restoring: false))
    }

    @Test("holds until the row was looked up, whatever keeps that from being done")
    func notLookedUp() throws {
        for answer in [ItemAnswer<TestRow>.failed, .aborted(provesNothingWasDone: false)] {
            var item = try decided()
            item.receive(answer, to: item.send())
            _ = goneOver(&item)
        }
        var item = try decided()
        #expect(item.receive(.refused(provesNothingWasDone: true), to: item.send()) == .parked)
        item.apply(item.machine.keepMine(.refused))
        _ = goneOver(&item)
    }

    /// What is decided or changed after it, before anything was sent.
    enum Change: CaseIterable { case edited, deleted, mergedAfterRefusal, deletedAfterRefusal }

    @Test("says nothing of what is changed later", arguments: Change.allCases)
    func changed(_ change: Change) throws {
        var item = try decided()
        switch change {
        case .edited: try item.update("again")
        case .deleted: try item.delete()
        case .mergedAfterRefusal:
            item.receive(.refused(provesNothingWasDone: true), to: item.send())
            item.row?.content = "merged"
            item.machine.keepContent()
            item.apply(item.machine.keepMine(.refused, isMerged: true))
        case .deletedAfterRefusal:
            item.receive(.refused(provesNothingWasDone: true), to: item.send())
            item.apply(item.machine.deleteInstead(item.row, .refused))
        }
        #expect(item.change?.isForced == false)
        #expect(item.receive(.shown(theirs), to: item.send()) == .conflict(theirs))
    }

    @Test("ends when there is no row to go over: one that comes later is in conflict")
    func absent() throws {
        var item = try decided()
        #expect(item.receive(.absent, to: item.send()) == .conflict(nil))
        #expect(item.change?.isForced == false)
    }

    @Test("lets what was not here be deleted as it is shown first, and no other way")
    func deletionOfUnknown() throws {
        var item = TestItem()
        try item.delete()
        #expect(item.receive(.shown(later), to: goneOver(&item)) == .conflict(later))
    }
}

extension ItemRequest {
    fileprivate var namedVersion: Row.Version? {
        switch self {
        case .update(_, let version, _), .delete(let version), .tombstone(_, let version): version
        case .fillTombstone(_, let version): version
        case .insert, .lookUp: nil
        }
    }
}
