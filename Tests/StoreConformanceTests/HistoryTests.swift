import SyncContract
import Testing

@testable import StoreConformance

@Suite("Histories of transactions")
struct HistoryTests {
    typealias Transaction = History.Transaction

    /// Transactions that one client runs after the other.
    private static func inTurn(_ transactions: [(steps: [History.Step], isKept: Bool)]) -> History {
        History(
            transactions: transactions.enumerated()
                .map { index, made in
                    Transaction(
                        client: index,
                        number: 0,
                        begun: index * 2,
                        ended: index * 2 + 1,
                        steps: made.steps,
                        isKept: made.isKept
                    )
                }
        )
    }

    /// Transactions that all run at the same time.
    private static func atOnce(_ transactions: [(steps: [History.Step], isKept: Bool)]) -> History {
        var history = inTurn(transactions)
        for index in history.transactions.indices {
            (history.transactions[index].begun, history.transactions[index].ended) = (0, 100)
        }
        return history
    }

    private static let planted: [(Anomaly, History)] = [
        (.inventedValue, inTurn([([.read(row: 0, 7)], true)])),
        (.dirtyRead, atOnce([([.read(row: 0, nil), .wrote(row: 0, 1)], false), ([.read(row: 0, 1)], true)])),
        (
            .intermediateRead,
            atOnce([
                ([.read(row: 0, nil), .wrote(row: 0, 1), .read(row: 0, 1), .wrote(row: 0, 2)], true),
                ([.read(row: 0, 1)], true),
            ])
        ),
        (
            .nonRepeatableRead,
            atOnce([([.read(row: 0, nil), .wrote(row: 0, 1)], true), ([.read(row: 0, nil), .read(row: 0, 1)], true)])
        ),
        (.lostOwnWrite, inTurn([([.read(row: 0, nil), .wrote(row: 0, 1), .read(row: 0, nil)], true)])),
        (
            .lostUpdate,
            atOnce([
                ([.read(row: 0, nil), .wrote(row: 0, 1)], true), ([.read(row: 0, nil), .wrote(row: 0, 2)], true),
            ])
        ),
        (
            .halfCommit,
            atOnce([
                ([.read(row: 0, nil), .wrote(row: 0, 1), .read(row: 1, nil), .wrote(row: 1, 2)], true),
                ([.read(row: 0, 1), .read(row: 1, nil)], true),
            ])
        ),
        (
            .writeSkew,
            atOnce([
                ([.read(row: 0, nil), .read(row: 1, nil), .wrote(row: 1, 1)], true),
                ([.read(row: 1, nil), .read(row: 0, nil), .wrote(row: 0, 2)], true),
            ])
        ),
        (.staleRead, inTurn([([.read(row: 0, nil), .wrote(row: 0, 1)], true), ([.read(row: 0, nil)], true)])),
    ]

    @Test("each anomaly is found by its name", arguments: planted.indices)
    func anomalies(_ index: Int) {
        let (anomaly, history) = Self.planted[index]
        let findings = HistoryCheck(history).findings
        #expect(findings.first?.anomaly == anomaly, "\(findings)")
        #expect(findings.first?.story.isEmpty == false)
    }

    @Test("every anomaly is planted here")
    func all() { #expect(Set(Self.planted.map(\.0)) == Set(Anomaly.allCases)) }

    @Test("what has an order is right, also where it is not that of the calls")
    func right() {
        let writer: [History.Step] = [.read(row: 0, nil), .wrote(row: 0, 1), .read(row: 1, nil), .wrote(row: 1, 2)]
        let history = Self.atOnce([
            ([.read(row: 0, 1), .read(row: 1, 2)], true), ([.read(row: 0, nil), .read(row: 1, nil)], true),
            (writer, true), ([.read(row: 0, nil), .wrote(row: 0, 9)], false),
            ([.read(row: 0, 1), .wrote(row: 0, 3), .read(row: 0, 3)], true),
        ])
        #expect(HistoryCheck(history).findings.isEmpty)
        let after = Self.inTurn([(writer, true), ([.read(row: 0, 1), .read(row: 1, 2)], true)])
        #expect(HistoryCheck(after).findings.isEmpty)
    }
}
