import SyncMachines
import Testing

/// A server that numbers its rows has taken a change, and its answer does not say which version that has made: without the
/// row, or with a row that lacks it.
@Suite("An answer without a version")
struct UnversionedAnswerTests {
    private static let answers: [ItemAnswer<TestRow>] = [.taken(nil), .taken(TestRow(content: "b", version: nil))]

    /// What the server has then.
    private let written = TestRow(content: "b", version: 2)

    private func taken(_ answer: ItemAnswer<TestRow>) throws -> TestItem {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        #expect(item.receive(answer, to: item.send()) == .done)
        // A store keeps what an answer does not say.
        item.row?.version = 1
        return item
    }

    @Test("is no conflict for what is saved next, by whoever has seen the state before", arguments: answers, [nil, 1])
    func next(_ answer: ItemAnswer<TestRow>, _ seen: Int?) throws {
        var item = try taken(answer)
        try item.update("c", seen: seen)
        #expect(item.receive(.shown(written), to: item.send()) == .again(.done))
        let last = item.send(.done)
        #expect(last?.request == .update(TestRow(content: "c", version: 2), version: 2, restoring: false))
        item.receive(.taken(TestRow(content: "c", version: 3)), to: last)
        #expect(item.machine.memory.ownVersions == [1, 2, 3] && item.machine.memory.sent.isEmpty)
    }

    @Test("is no conflict for an editor that was opened before several own writes", arguments: answers)
    func olderEditor(_ answer: ItemAnswer<TestRow>) throws {
        var item = TestItem(TestRow(content: "o", version: 0))
        try item.update("a")
        item.receive(.taken(TestRow(content: "a", version: 1)), to: item.send())
        try item.update("b")
        item.receive(answer, to: item.send())
        item.row?.version = 1
        try item.update("c", seen: 0)
        #expect(item.change?.isBasedOnOlderRow == false)
        #expect(item.receive(.shown(written), to: item.send()) == .again(.done))
    }

    @Test("is none either when a pull has brought the row meanwhile", arguments: answers)
    func pulled(_ answer: ItemAnswer<TestRow>) throws {
        var item = try taken(answer)
        item.pull(written)
        #expect(item.machine.memory.sent.isEmpty)
        try item.update("c", seen: 1)
        #expect(item.change?.baseVersion == 2 && item.change?.isBasedOnOlderRow == false)
    }

    @Test("is none when the pull met a further change, which was discarded then", arguments: answers)
    func pulledAndDiscarded(_ answer: ItemAnswer<TestRow>) throws {
        var item = try taken(answer)
        try item.update("c")
        item.pull(written)
        item.discard()
        #expect(item.row == written)
        try item.update("d", seen: 1)
        #expect(item.change?.baseVersion == 2 && item.change?.isBasedOnOlderRow == false)
    }

    @Test("is none for what was edited while it was under way", arguments: answers, [false, true])
    func editedMeanwhile(_ answer: ItemAnswer<TestRow>, _ deletes: Bool) throws {
        var item = TestItem(TestRow(content: "a", version: 1))
        try item.update("b")
        let sent = item.send()
        if deletes { try item.delete() } else { try item.update("c") }
        #expect(item.receive(answer, to: sent) == .waits)
        #expect(item.receive(.shown(written), to: item.send()) == .again(.done))
        #expect(item.send(.done)?.request.version == 2)
    }

    @Test("is none for a new item that was edited while it was under way", arguments: answers, [false, true])
    func insertEditedMeanwhile(_ answer: ItemAnswer<TestRow>, _ deletes: Bool) throws {
        var item = TestItem()
        try item.insert("b")
        let sent = item.send()
        if deletes { try item.delete() } else { try item.update("c") }
        #expect(item.receive(answer, to: sent) == .waits)
        #expect(item.receive(.shown(written), to: item.send()) == .again(.done))
        #expect(item.send(.done)?.request.version == 2)
    }

    @Test(
        "has a new item that was given up looked up and deleted, and brings back none that others have deleted",
        arguments: answers
    )
    func givenUp(_ answer: ItemAnswer<TestRow>) throws {
        var item = TestItem()
        try item.insert("b")
        let sent = item.send()
        item.discard()
        item.receive(answer, to: sent)
        let deletion = item.send()
        #expect(deletion?.request == .lookUp)
        var alone = item
        #expect(alone.receive(.shown(written), to: deletion) == .again(.done))
        #expect(alone.send(.done)?.request == .delete(version: 2))

        try item.insert("c")
        item.discard()
        let tombstone = TestRow(content: "b", version: 3, isDeleted: true)
        #expect(item.receive(.shown(tombstone), to: item.send()) == .done)
        #expect(item.change == nil && item.row == nil)
    }

    /// A new item that was taken without a version; the look-up before the next change was refused, and the local row kept.
    private func keptLocal(_ answer: ItemAnswer<TestRow>) throws -> TestItem {
        var item = TestItem()
        try item.insert("b")
        #expect(item.receive(answer, to: item.send()) == .done)
        try item.update("c")
        let lookUp = item.send()
        #expect(lookUp?.request == .lookUp)
        #expect(item.receive(.refused(provesNothingWasDone: false), to: lookUp) == .parked)
        item.apply(item.machine.keepLocal(.refused))
        #expect(item.change == nil && item.row?.content == "c")
        return item
    }

    @Test(
        "is no conflict either when a change was dropped before the version was known, and its row kept",
        arguments: answers
    )
    func dropped(_ answer: ItemAnswer<TestRow>) throws {
        var item = try keptLocal(answer)
        try item.update("d")
        #expect(item.receive(.shown(written), to: item.send()) == .again(.done))
        #expect(item.send(.done)?.request == .update(TestRow(content: "d", version: 2), version: 2, restoring: false))

        var others = try keptLocal(answer)
        let theirs = TestRow(content: "theirs", version: 3)
        try others.update("d")
        #expect(others.receive(.shown(theirs), to: others.send()) == .conflict(theirs))

        var pulled = try keptLocal(answer)
        pulled.pull(written)
        #expect(pulled.row == written && pulled.machine.memory.sent.isEmpty)

        var discarded = try keptLocal(answer)
        try discarded.update("d")
        discarded.discard()
        #expect(discarded.change == nil && discarded.row?.content == "c", "nothing was sent, and nothing is taken back")
    }

    @Test("has the next change go over the row that was seen when a change is dropped, on a server without versions")
    func droppedOverRow() throws {
        var item = TestItem(TestRow(content: "a", version: nil))
        try item.update("b")
        let theirs = TestRow(content: "theirs", version: nil)
        #expect(item.receive(.shown(theirs), to: item.send()) == .conflict(theirs))
        item.apply(item.machine.keepLocal(.row(theirs)))
        try item.update("c")
        #expect(item.receive(.shown(theirs), to: item.send()) == .again(.done))
        #expect(item.send(.done)?.request == .update(TestRow(content: "c"), version: nil, restoring: false))

        var newer = item
        newer.machine.change = nil
        newer.pull(theirs)
        #expect(newer.machine.memory.isEmpty)
    }

    @Test("hides nothing that others have written since", arguments: answers, [nil, 1])
    func others(_ answer: ItemAnswer<TestRow>, _ seen: Int?) throws {
        let theirs = TestRow(content: "theirs", version: 3)
        var item = try taken(answer)
        try item.update("c", seen: seen)
        #expect(item.receive(.shown(theirs), to: item.send()) == .conflict(theirs))

        var pulled = try taken(answer)
        pulled.pull(theirs)
        try pulled.update("c", seen: 1)
        #expect(pulled.change?.isBasedOnOlderRow == true)
    }

    @Test("gives who inserts the row anew, after it was removed here alone, no right to go over it", arguments: answers)
    func purged(_ answer: ItemAnswer<TestRow>) throws {
        var item = try taken(answer)
        item.row = nil
        try item.insert("c")
        #expect(item.receive(.shown(written), to: item.send()) == .conflict(written))
    }

    @Test("is remembered of the last write only, and of none on a server without versions", arguments: answers)
    func last(_ answer: ItemAnswer<TestRow>) throws {
        var item = try taken(answer)
        try item.update("c")
        #expect(item.receive(answer, to: item.send()) == .done)
        #expect(item.machine.memory.sent.count == 1)

        var unversioned = TestItem(TestRow(content: "a", version: nil))
        try unversioned.update("b")
        unversioned.receive(answer, to: unversioned.send(.done))
        #expect(unversioned.change == nil && unversioned.machine.memory.isEmpty)
    }
}

extension ItemRequest<TestRow> {
    fileprivate var version: Int? {
        switch self {
        case .update(_, let version, _), .delete(let version): version
        default: nil
        }
    }
}
