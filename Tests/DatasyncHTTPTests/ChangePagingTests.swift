import HTTPTransport
import RemoteContract
import SyncContract
import Testing

@testable import DatasyncHTTP

@Suite("What a pull of changes asks next")
struct ChangePagingTests {
    private func page(_ rows: [(String, Int64?)], isLast: Bool = false) -> ServerPage {
        ServerPage(
            rows: rows.map { id, stamp in
                ServerPage.Row(id: .text(id), stamp: stamp, content: .record(Record(id: .string(id))))
            },
            isKnownToBeLast: isLast
        )
    }

    private func filter(_ paging: ChangePaging) throws -> String? {
        try ODataPrinter(.azureMobileApps).filter(paging.request(Query("todo"), pageSize: 2))
    }

    @Test("is by id where rows have no stamp, and by stamp then")
    func unstamped() throws {
        var paging = ChangePaging(since: nil)
        paging.settled = 1_000
        #expect(try filter(paging) == nil)
        try paging.receive(page([("a", nil), ("b", nil)]))
        #expect(try filter(paging) == "(updatedAt eq null)")
        try paging.receive(page([("a", nil), ("b", nil)]))
        #expect(try filter(paging) == "((updatedAt eq null) and (id gt 'b'))")
        #expect(paging.cursor == nil, "nothing is settled before the rows with stamps were asked for")
        try paging.receive(page([], isLast: true))
        #expect(try filter(paging) == "(updatedAt ge datetimeoffset'0001-01-01T00:00:00.000Z')")
        try paging.receive(page([("c", 7)], isLast: true))
        #expect(paging.isFinished && paging.cursor == PullCursor(milliseconds: 8))
    }

    @Test("is a window of whole milliseconds, by id, where a page does not leave its first one")
    func window() throws {
        var paging = ChangePaging(since: 5)
        paging.settled = 1_000
        try paging.receive(page([("a", 5), ("b", 7)]))
        #expect(paging.cursor == PullCursor(milliseconds: 7))
        try paging.receive(page([("b", 7), ("c", 7)]))
        let window =
            "(updatedAt ge datetimeoffset'1970-01-01T00:00:00.007Z') and (updatedAt lt"
            + " datetimeoffset'1970-01-01T00:00:00.008Z')"
        #expect(try filter(paging) == "(\(window))")
        try paging.receive(page([("B", 7), ("a", 7)]))
        #expect(try filter(paging) == "(\(window) and (id gt 'a'))")
        // A pull that is cut off here goes on here.
        let place = PullCursor.Within(milliseconds: 7, id: .text("a"))
        #expect(paging.cursor == PullCursor(milliseconds: 7, within: place))
        #expect(try filter(ChangePaging(from: paging.cursor)) == "(\(window) and (id gt 'a'))")
        var unsettled = paging
        unsettled.settled = 7
        #expect(unsettled.cursor == PullCursor(milliseconds: 7))
        try paging.receive(page([("c", 7)], isLast: true))
        #expect(try filter(paging) == "(updatedAt ge datetimeoffset'1970-01-01T00:00:00.008Z')")
        #expect(!paging.isFinished && paging.cursor == PullCursor(milliseconds: 8))
    }

    @Test("is nothing, but an error, where the server does not do what was asked")
    func disobedience() {
        for rows: [(String, Int64?)] in [[("a", 3), ("b", 4)], [("a", 9), ("b", nil)], [("a", nil)]] {
            var paging = ChangePaging(since: 5)
            let error = #expect(throws: RemoteError.self) { try paging.receive(page(rows)) }
            #expect(error?.code == .invalidResponse)
        }
    }

    @Test("goes on where stamps are ordered as text, without the zeros at their end, and not where they run backwards")
    func order() throws {
        var paging = ChangePaging(since: 9_000)
        let asText: [(String, Int64?)] = [("a", 9_123), ("b", 9_120), ("c", 9_100), ("d", 9_000), ("e", 10_500)]
        try paging.receive(page(asText))
        for stamps in [(9_873, 9_421), (9_130, 9_120), (9_200, 9_100), (10_000, 9_000)] as [(Int64, Int64)] {
            var paging = ChangePaging(since: 9_000)
            let error = #expect(throws: RemoteError.self) {
                try paging.receive(page([("a", stamps.0), ("b", stamps.1), ("c", 11_000)]))
            }
            #expect(error?.message.contains("ascending") == true)
        }
    }

    @Test("starts where the cursor's text says")
    func cursors() {
        let places = [RowKey.text("a"), .text("ü 1'"), .number(-7)]
            .map { PullCursor.Within(milliseconds: 7, id: $0) }
        let within = [0, 60_001].flatMap { lag in places.map { PullCursor(milliseconds: 5, lag: lag, within: $0) } }
        for cursor in [PullCursor(milliseconds: 1_760_000_000_123), PullCursor(milliseconds: 5, lag: 60_001)] + within {
            #expect(PullCursor(cursor.text, settlingTime: .seconds(10)) == cursor)
        }
        #expect(PullCursor(milliseconds: 0).text == "settled 1970-01-01T00:00:00.000Z")
        #expect(PullCursor("1970-01-01T00:00:20.000Z", settlingTime: .seconds(10)) == PullCursor(milliseconds: 10_000))
        let bad = [
            "lag", "lag -1", "within", "within 1970-01-01T00:00:00.007Z text", "lag 1 within x text YQ==", "lag 1 2",
        ]
        let strange = ["text Y", "number YQ==", "other YQ=="].map { "within 1970-01-01T00:00:00.007Z \($0)" }
        for text in ["1970-01-01"] + (bad + strange).map({ "settled 1970-01-01T00:00:00.000Z \($0)" }) {
            #expect(PullCursor(text, settlingTime: .zero) == nil)
        }
    }

    @Test(
        "reckons with dates as servers write them, and with none otherwise",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777_000), ("Sun, 6 Nov 1994 08:49:37 GMT", 784_111_777_000),
            ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("", nil), ("soon", nil),
            ("Sun, 31 Feb 2024 08:49:37 GMT", nil),
        ] as [(String, Int64?)]
    )
    func dates(_ text: String, _ expected: Int64?) {
        let response = ServerResponse(status: 200, fields: [.date: text], body: [], server: "example.org")
        #expect(response.date == expected)
    }
}
