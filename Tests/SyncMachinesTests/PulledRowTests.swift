import SyncMachines
import Testing

/// It is not taken while the change is there; who decides about the change, or gives it up, has to do with it all the same.
@Suite("A row that a pull brings while a change waits")
struct PulledRowTests {
    private let base = TestRow(content: "a", version: 1)
    private let theirs = TestRow(content: "theirs", version: 2)

    /// A server without versions: they would tell that the base is not the row that was seen.
    @Test("is what the server's side is when it was taken, also where it is like the one from before the conflict")
    func newestAfterConflict() throws {
        var item = TestItem(TestRow(content: "a"))
        try item.update("b")
        let theirs = TestRow(content: "theirs")
        #expect(item.receive(.shown(theirs), to: item.send()) == .conflict(theirs))
        let back = TestRow(content: "a")
        #expect(item.pull(back) == .passOver)
        item.apply(item.machine.takeServer(.row(theirs)))
        #expect(item.change == nil && item.row == back)
    }

    @Test("ends in a conflict when it has the version of the one that was changed, and is another")
    func versionUsedTwice() throws {
        var item = TestItem(base)
        try item.update("b")
        let other = TestRow(content: "theirs", version: 1, stamp: 1)
        #expect(item.pull(other) == .passOver)
        let lookUp = item.send()
        #expect(lookUp?.request == .lookUp, "the server would take a change of version 1")
        #expect(item.receive(.shown(other), to: lookUp) == .conflict(other))
    }

    @Test("does not come when the server has none by the time its side is taken")
    func goneSince() throws {
        var item = TestItem(base)
        try item.update("b")
        item.pull(theirs)
        #expect(item.receive(.absent, to: item.send()) == .conflict(nil))
        item.apply(item.machine.takeServer(.nothing))
        #expect(item.change == nil && item.row == nil)
    }

    @Test("is asked for when that was a deletion, the answer to which shows nothing")
    func deletedMeanwhile() throws {
        var item = TestItem(base)
        try item.delete()
        let deletion = item.send()
        // The deletion was carried out, and somebody has brought the row back.
        #expect(item.pull(theirs) == .passOver)
        #expect(item.receive(.taken(nil), to: deletion) == .done)
        #expect(item.change == nil && item.machine.needsRow)
    }
}
