import Testing

@testable import OfflineSync

@Suite("How a new change collapses into the one that waits")
struct OperationCollapsingTests {
    typealias Kind = TableOperation.Kind

    @Test(
        "the table of the original SDKs holds for changes that were never sent",
        arguments: [
            (nil, .insert, .add), (nil, .update, .add), (nil, .delete, .add),
            (.insert, .insert, .refuse), (.insert, .update, .keep), (.insert, .delete, .drop),
            (.update, .insert, .refuse), (.update, .update, .keep), (.update, .delete, .becomeDelete),
            (.delete, .insert, .refuse), (.delete, .update, .refuse), (.delete, .delete, .refuse),
        ] as [(Kind?, Kind, CollapsedChange)]
    )
    func neverSent(_ row: (waiting: Kind?, new: Kind, expected: CollapsedChange)) {
        #expect(CollapsedChange(waiting: row.waiting, isAttempted: false, new: row.new) == row.expected)
    }

    @Test("an insert that may have reached the server is deleted there, not forgotten")
    func attemptedInsert() {
        #expect(CollapsedChange(waiting: .insert, isAttempted: true, new: .delete) == .becomeDelete)
        #expect(CollapsedChange(waiting: .insert, isAttempted: true, new: .update) == .keep)
    }
}
