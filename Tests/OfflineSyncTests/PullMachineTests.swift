import RemoteContract
import SyncContract
import Testing

@testable import OfflineSync

@Suite("Whether a pull goes on")
struct PullMachineTests {
    private func page(
        _ ids: [String],
        next: String? = nil,
        version: String = "v1",
        count: Int? = nil,
        keys: [Int64] = []
    ) -> PullPage {
        PullPage(
            records: ids.map { serverRow($0, version: version) },
            next: next.map(PullPosition.next),
            totalCount: count,
            orderKeys: keys
        )
    }

    /// How a pull ends, and after how many pages; nil when it goes on behind the given ones.
    private func end(
        _ pages: [PullPage],
        from start: PullPosition = .changes(since: nil),
        limit: Int? = nil
    ) -> (Result<Int, PullMachine.Endlessness>, pages: Int)? {
        var machine = PullMachine(start, of: todoTable, limit: limit)
        for (index, page) in pages.enumerated() {
            do {
                guard try machine.receive(page) != nil else { return (.success(index + 1), index + 1) }
            } catch {
                return (.failure(error), index + 1)
            }
        }
        return nil
    }

    private func failure(
        _ pages: [PullPage],
        from start: PullPosition = .changes(since: nil),
        limit: Int? = nil
    ) -> PullMachine.Endlessness? {
        if case .failure(let failure)? = end(pages, from: start, limit: limit)?.0 { failure } else { nil }
    }

    @Test("ends with the page that names no other")
    func usual() {
        let pages = [page(["a", "b"], next: "1"), page(["c"], next: "2"), page([])]
        #expect(end(pages)?.pages == 3)
        #expect(failure(pages) == nil && failure(pages, from: .everything) == nil)
    }

    @Test("an empty page that names another one is not the end")
    func emptyPage() {
        #expect(end([page(["a"], next: "1"), page([], next: "2"), page(["b"])])?.pages == 3)
        #expect(
            failure((1...900).map { page([], next: "\($0)") }) == nil,
            "a server may filter a page after reading it"
        )
        #expect(failure((1...2_000).map { page([], next: "\($0)") }) == .onlyEmptyPages(1_001))
    }

    @Test("the same rows with the same page to follow are the same position twice")
    func samePosition() {
        #expect(failure([page(["a"], next: "1"), page(["a"], next: "1")]) == .repeatsPosition)
        #expect(failure([page([], next: "1"), page([], next: "1")]) == .repeatsPosition)
        let circle = (1...40).map { page(["\($0)"], next: "\($0 % 7)") }
        #expect(failure(circle) == .repeatsPosition)
    }

    @Test(
        "the same rows again and again end a pull, also when each page names a new one to follow",
        arguments: [1, 2, 5]
    )
    func sameRows(_ length: Int) throws {
        let pages = (1...200).map { page(["\($0 % length)"], next: "\($0)") }
        let ending = try #require(end(pages))
        #expect(failure(pages) == .repeatsRows)
        #expect(ending.pages <= 24 * length)
        #expect(failure(pages, from: .everything) == .repeatsRows)
    }

    @Test(
        "rows that share a millisecond come three times before others do, and rows that change come with other versions"
    )
    func legalRepetitions() {
        let shared = ["a", "b", "c"]
        let pages = [
            page(shared, next: "1"), page([], next: "2"), page(shared, next: "3"), page(shared, next: "4"),
            page(["d"], next: "5"), page(["e"]),
        ]
        #expect(failure(pages) == nil)
        let lookedAtAgain =
            pages.dropLast(2) + [
                page(["d"], next: "5"), page(shared, next: "6"), page(shared, next: "7"), page(["d"], next: "8"),
                page(["e"]),
            ]
        #expect(failure(Array(lookedAtAgain)) == nil, "they come twice more when rows have left behind them")
        #expect(failure((1...300).map { page(["a"], next: "\($0)", version: "v\($0)") }) == nil)
    }

    @Test("an order that runs backwards ends a pull, within a page and from page to page")
    func backwards() {
        #expect(failure([page(["a", "b"], next: "1", keys: [5, 4])]) == .runsBackwards)
        #expect(failure([page(["a"], next: "1", keys: [5, 6]), page(["b"], keys: [3, 4])]) == .runsBackwards)
        #expect(failure([page(["a"], next: "1", keys: [5, 6]), page(["b"], keys: [6, 6, 9])]) == nil)
        #expect(failure([page(["a"], next: "1", keys: [5, 6]), page(["b"], keys: [4, 9])]) == nil, "one came late")
    }

    @Test("more pages than the server counts end a pull; rows that are added meanwhile do not")
    func count() {
        let beyond = (1...9).map { page(["\($0)"], next: "\($0)", count: 1) }
        #expect(failure(beyond) == .exceedsCount(1))
        #expect(failure((1...300).map { page(["\($0)"], next: "\($0)", count: 10) }) == nil)
        #expect(failure([page(["a"], next: "1", count: 1), page([], next: "2", count: 0), page([])]) == nil)
    }

    @Test("a pull of everything has no more rows than it was asked for, and each row once")
    func everything() {
        #expect(
            failure([page(["a", "b"], next: "1"), page(["c", "d"], next: "2")], from: .everything, limit: 3)
                == .exceedsLimit(3)
        )
        #expect(failure([page(["a", "b", "c", "d"])], from: .everything, limit: 3) == nil)
        let asManyAsAsked = [page(["a", "b"], next: "1"), page(["c"], next: "2"), page([])]
        #expect(end(asManyAsAsked, from: .everything, limit: 3)?.pages == 3)
        #expect(failure(asManyAsAsked, from: .everything, limit: 3) == nil)
        let pages = [["a", "b"], ["a"], ["b"], ["c"]].enumerated()
            .map { page($1, next: "\($0)", version: "v\($0)") }
        #expect(failure(pages, from: .everything) == .repeatsRows)
    }

    @Test("what it says names what the server does, and no row")
    func messages() {
        let all: [PullMachine.Endlessness] = [
            .repeatsRows, .repeatsPosition, .runsBackwards, .exceedsCount(3), .exceedsLimit(4), .onlyEmptyPages(5),
        ]
        for failure in all { #expect(failure.message.hasPrefix("The server ") && failure.message.hasSuffix(".")) }
    }
}
