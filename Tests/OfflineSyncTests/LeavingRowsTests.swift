import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

@Suite("A pull of a condition that rows leave all the time")
struct LeavingRowsTests {
    @Test("ends with every row that is left", arguments: DatasyncDialect.allCases, [false, true])
    func completed(_ dialect: DatasyncDialect, _ reconciles: Bool) async throws {
        // Somebody completes tasks, several with every request, from the other end.
        let job = SyncWorld.StandIn { request, emulator in
            let answer = try await emulator.handle(request)
            let done = Self.open(emulator).suffix(3)
                .map { id -> [String: JSONValue] in
                    ["id": .string(id), "complete": true]
                }
            try emulator.seed(done, in: "TodoItem")
            return answer
        }
        try await SyncWorld.with(dialect, pageSize: 10, answeringLaptop: job) { world in
            let rows = (100..<220)
                .map { number -> [String: JSONValue] in
                    let stamp = Timestamp(milliseconds: 1_760_000_000_000 + Int64(number) * 1_000)
                    return ["id": .string("r\(number)"), "complete": false, "updatedAt": .string(stamp.text)]
                }
            try world.emulator.seed(rows, in: "TodoItem")
            let laptop = world.laptop
            let query = laptop.table.query.filtered(by: Column("complete") == false)
            try await laptop.context.pull(query, queryID: "open", options: .init(reconciles: reconciles))
            let left = Self.open(world.emulator)
            let here = Set(try await laptop.texts().keys)
            #expect(!left.isEmpty && here.isSuperset(of: left))
        }
    }

    /// The ids of the tasks that are not complete, in their order.
    private static func open(_ emulator: Emulator) -> [String] {
        emulator.rows(in: "TodoItem").filter { $0["complete"] == .bool(false) }.compactMap { $0["id"]?.string }
    }
}
