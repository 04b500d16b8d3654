import SyncMachines
import Testing

/// More attempts with other content each are not kept than one operation is to hold; the first one is.
@Suite("An insert that was sent again and again, edited in between, and never answered")
struct ManyAttemptsTests {
    private let first = TestRow(content: "first", version: 1)

    private func attempts() throws -> TestItem {
        var item = TestItem()
        try item.insert("first")
        for number in 1...40 {
            item.receive(.aborted(provesNothingWasDone: false), to: item.send())
            try item.update("\(number)")
        }
        return item
    }

    @Test("holds what was sent first, and not all of what came after it")
    func bound() throws {
        let sent = try #require(try attempts().change?.sent)
        #expect(sent.first == SentRequest(.insert, content: TestRow(content: "first")))
        #expect(sent.last?.content?.content == "39" && sent.count < 40)
    }

    @Test("knows the row that its first attempt has made for its own")
    func ownRow() throws {
        var item = try attempts()
        #expect(item.receive(.shown(first), to: item.send()) == .again(.done))
        #expect(item.send(.done)?.request == .update(TestRow(content: "40", version: 1), version: 1, restoring: false))
    }

    @Test("so it does when it is deleted, in a way that none of them can arrive any more")
    func deleted() throws {
        var item = try attempts()
        #expect(try !item.delete())
        let deletion = item.send()
        #expect(deletion?.request == .tombstone(TestRow(content: "39"), version: nil))
        #expect(item.receive(.shown(first), to: deletion) == .again(.done))
        #expect(item.send(.done)?.request == .delete(version: 1))
    }
}
