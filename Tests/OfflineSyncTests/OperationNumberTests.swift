import OfflineSync
import RemoteContract
import SeededNumbers
import SyncContract
import Testing

/// An answer refers to its operation by number: one that is under way must not meet another operation.
@Suite("The numbers of operations")
struct OperationNumberTests {
    private static let operations = SystemTables.operations.name

    /// What an older version of this library has written does not say that a number is the highest.
    private static func forgetHighest(in store: some SyncContextDataSource) async throws {
        try await store.write { transaction in
            let ids = try transaction.records(Query(operations).selecting([])).map(\.id)
            try transaction.upsert(ids.map { Record(id: $0, ["highest": .null]) }, into: operations)
        }
    }

    @Test(
        "the number of the last operation is not used again when it is removed and others wait",
        arguments: [true, false]
    )
    func removedLast(isOfOlderVersion: Bool) async throws {
        let store = try makeStore()
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        let table = try context.table(todoTable.name)
        for id in ["a", "b", "c"] { try await table.insert([:], id: id) }
        if isOfOlderVersion { try await Self.forgetHighest(in: store) }
        // An insert that was not sent is gone with its deletion.
        try await table.delete("c")
        try await table.insert([:], id: "d")
        #expect(try await context.operations().map(\.id) == [1, 2, 4])
        try await table.delete("d")
        try await table.delete("b")
        try await table.insert([:], id: "e")
        #expect(try await context.operations().map(\.id) == [1, 5])
        try await table.undoDelete("d")
        try await table.insert([:], id: "f")
        #expect(try await context.operations().map(\.id) == [1, 4, 5, 6])
    }

    @Test(
        "no number comes twice, whatever is inserted, deleted, taken back, given up and purged",
        arguments: [1, 2, 3, 4]
    )
    func random(_ round: UInt64) async throws {
        var random = SeededGenerator(seed: SeededGenerator.seed() &+ round)
        let store = try makeStore()
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        let table = try context.table(todoTable.name)
        var items: [Int64: String] = [:]
        var inserted = 0
        for _ in 0..<SeededGenerator.rounds(120, all: 1_000) {
            let known = try await context.operations().map(\.itemID)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                inserted += 1
                try await table.insert([:], id: "\(inserted)")
            case 5, 6: if let id = known.randomElement(using: &random) { try await table.delete(id) }
            case 7:
                // One whose insert and deletion have cancelled each other, or none.
                do {
                    try await table.undoDelete("\(Int.random(in: 0...inserted, using: &random))")
                } catch let error as SyncError where error.code == .invalidAction {}
            case 8: if let id = known.randomElement(using: &random) { try await table.revert(id) }
            default:
                if Bool.random(using: &random) {
                    try await Self.forgetHighest(in: store)
                } else {
                    try await table.forcePurge()
                }
            }
            for operation in try await context.operations() {
                let first = items.updateValue(operation.itemID, forKey: operation.id)
                #expect(first == nil || first == operation.itemID, "number \(operation.id) was that of another item")
            }
        }
    }
}
