import SyncMachines
import Testing

/// An editor was opened at version 1 and is saved after a decision over somebody else's version 2.
@Suite("An editor that was opened before a decision")
struct GivenUpDecisionTests {
    private let theirs = TestRow(content: "theirs", version: 2)

    /// A change, based on version 1, that was decided to go over version 2.
    private func decided(_ content: String = "b") throws -> TestItem {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update(content)
        item.receive(.shown(theirs), to: item.send())
        item.apply(item.machine.keepMine(.row(theirs)))
        return item
    }

    /// Saves what an editor holds that was opened at version 1, and sends it.
    private func save(_ item: inout TestItem) throws -> RequestUnderWay<TestRow>? {
        try item.update("edited", seen: 1)
        return item.send()
    }

    private func edited(over version: Int) -> ItemRequest<TestRow> {
        .update(TestRow(content: "edited", version: version), version: version, restoring: false)
    }

    @Test("has nothing to be told while the decision waits, and when it was carried out")
    func standing() throws {
        var waiting = try decided()
        #expect(try save(&waiting)?.request == edited(over: 2))

        var done = try decided()
        done.receive(.taken(TestRow(content: "b", version: 3)), to: done.send())
        #expect(done.row?.version == 3 && done.change == nil)
        #expect(try save(&done)?.request == edited(over: 3))
    }

    @Test("finds what a merge has taken in, which it has not seen", arguments: [true, false])
    func merged(_ wasSent: Bool) throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        item.receive(.shown(theirs), to: item.send())
        item.row?.content = "b and theirs"
        item.apply(item.machine.keepMine(.row(theirs), isMerged: true))
        var newest = theirs
        if wasSent {
            newest = TestRow(content: "b and theirs", version: 3)
            item.receive(.taken(newest), to: item.send())
        }
        let sent = try save(&item)
        #expect(item.change?.baseVersion == 1 && item.change?.isBasedOnOlderRow == true)
        #expect(item.receive(.shown(newest), to: sent) == .conflict(newest))
    }

    @Test("has nothing to be told of own writes after a merge")
    func writesAfterMerge() throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        item.receive(.shown(theirs), to: item.send())
        item.apply(item.machine.keepMine(.row(theirs), isMerged: true))
        item.receive(.taken(TestRow(content: "b", version: 3)), to: item.send())
        // The editor was opened when the merge waited.
        try item.update("edited", seen: 2)
        let sent = item.send()
        #expect(sent?.request == edited(over: 3))
    }

    /// The ways in which a decision is given up, none of which leaves anything to be sent.
    enum End: CaseIterable {
        case discarded
        case undoneDeletion
        case serverTaken
        case takenAfterAnotherConflict
    }

    @Test("finds the row of the other device when the decision was given up", arguments: End.allCases)
    func givenUp(_ end: End) throws {
        var item = try decided()
        var newest = theirs
        switch end {
        case .discarded: item.discard()
        case .undoneDeletion:
            try item.delete()
            item.discard()
        case .serverTaken:
            item.receive(.refused(provesNothingWasDone: true), to: item.send())
            item.apply(item.machine.takeServer(.refused))
        case .takenAfterAnotherConflict:
            newest = TestRow(content: "newer", version: 3)
            item.receive(.shown(newest), to: item.send())
            item.apply(item.machine.keepMine(.row(newest)))
            item.discard()
        }
        #expect(item.change == nil && item.row == newest)
        let sent = try save(&item)
        #expect(item.change?.baseVersion == 1 && item.change?.isBasedOnOlderRow == true)
        #expect(item.receive(.shown(newest), to: sent) == .conflict(newest))
    }

    @Test("finds it as well when what was sent for the decision has to be taken back first")
    func takenBack() throws {
        var item = try decided()
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        item.discard()
        #expect(item.change?.isUndo == true && item.row?.content == "theirs")
        // The request of the decision was carried out.
        item.receive(.shown(TestRow(content: "b", version: 3)), to: item.send())
        item.receive(.taken(TestRow(content: "theirs", version: 4)), to: item.send(.done))
        #expect(item.change == nil)
        _ = try save(&item)
        #expect(item.change?.isBasedOnOlderRow == true)
    }

    @Test("finds it when it is saved while that is on its way")
    func savedMeanwhile() throws {
        var item = try decided()
        item.receive(.aborted(provesNothingWasDone: false), to: item.send())
        item.discard()
        _ = try save(&item)
        #expect(item.change?.isBasedOnOlderRow == true && item.change?.baseVersion == 1)
    }

    @Test("finds what a pull has brought in the place of a local row that was kept")
    func keptLocal() throws {
        var item = try decided()
        item.receive(.refused(provesNothingWasDone: true), to: item.send())
        item.apply(item.machine.keepLocal(.refused))
        #expect(item.row == TestRow(content: "b", version: 2))
        // It is no news, and the row stays; what comes later takes its place.
        item.pull(theirs)
        #expect(item.row == TestRow(content: "b", version: 2))
        item.pull(TestRow(content: "theirs", version: 3))
        _ = try save(&item)
        #expect(item.change?.isBasedOnOlderRow == true)
    }

    @Test("has nothing to be told of own writes from before the decision was given up, and after")
    func ownWrites() throws {
        var item = try decided()
        item.discard()
        try item.update("c")
        item.receive(.taken(TestRow(content: "c", version: 3)), to: item.send())
        try item.update("d", seen: 2)
        #expect(item.change?.baseVersion == 3 && item.change?.isBasedOnOlderRow == false)
    }
}
