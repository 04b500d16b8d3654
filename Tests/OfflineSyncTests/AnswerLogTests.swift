import SyncContract
import Testing

@testable import OfflineSync

@Suite("Which answers are newer than a page")
struct AnswerLogTests {
    private let log = AnswerLog()

    @Test("those recorded after it was requested, row by row and table by table")
    func order() {
        let before = log.requestStarted()
        log.answerRecorded(for: "a", in: todoTable)
        let after = log.requestStarted()
        #expect(before.isOlderThanAnswer(for: "a", in: todoTable))
        #expect(!after.isOlderThanAnswer(for: "a", in: todoTable))
        #expect(!before.isOlderThanAnswer(for: "b", in: todoTable))
        #expect(!before.isOlderThanAnswer(for: "a", in: TableDefinition("Other", columns: [])))
        log.answerRecorded(for: "a", in: todoTable)
        #expect(after.isOlderThanAnswer(for: "a", in: todoTable))
    }

    @Test("ids are told apart as the table does")
    func casing() {
        let folding = TableDefinition("Folding", columns: [], idComparison: .asciiCaseInsensitive)
        let request = log.requestStarted()
        log.answerRecorded(for: "A", in: folding)
        log.answerRecorded(for: "A", in: todoTable)
        #expect(request.isOlderThanAnswer(for: "a", in: folding))
        #expect(!request.isOlderThanAnswer(for: "a", in: todoTable))
    }

    @Test("nothing is kept for longer than a request needs it")
    func bounded() {
        log.answerRecorded(for: "a", in: todoTable)
        #expect(log.count == 0, "nothing is under way")
        var first: AnswerLog.Request? = log.requestStarted()
        log.answerRecorded(for: "a", in: todoTable)
        var second: AnswerLog.Request? = log.requestStarted()
        log.answerRecorded(for: "b", in: todoTable)
        #expect(log.count == 2 && first != nil)
        first = nil
        #expect(log.count == 1)
        #expect(second?.isOlderThanAnswer(for: "b", in: todoTable) == true)
        second = nil
        #expect(log.count == 0)
    }
}
