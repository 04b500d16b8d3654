import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

@Suite("Pulls by a column that no row of the Node server has filled yet")
struct UnfilledColumnPullTests {
    private let everything = PullOptions(order: .pullOnly, reconciles: true)

    @Test(
        "remove nothing that satisfies the condition, and bring what does",
        arguments: [EmulatorConfiguration.Edition.usual, .node4]
    )
    func reconciling(_ edition: EmulatorConfiguration.Edition) async throws {
        try await SyncWorld.with(.azureMobileApps, edition: edition) { world in
            let open = Query("TodoItem").filtered(by: !(Column("complete") == true))
            let complete = Query("TodoItem").filtered(by: Column("complete") == true)
            for id in ["a", "b"] { try await world.phone.table.insert(["text": .string(id)], id: id) }
            try await world.phone.pull()
            for device in [world.phone, world.laptop] {
                let report = try await device.context.pull(open, options: everything)
                #expect(report.isComplete && report.deleted == 0)
                #expect(try await device.texts() == ["a": "a", "b": "b"])
                #expect(try await device.context.pull(complete, options: everything).received == 0)
            }
            // From now on the server has the column.
            try await world.laptop.table.update(Record(id: "b", ["text": "b", "complete": true]))
            _ = try await world.laptop.context.push()
            #expect(try await world.phone.context.pull(open, options: everything).deleted == 1)
            #expect(try await world.phone.context.pull(complete, options: everything).received == 1)
            #expect(try await world.phone.texts() == ["a": "a", "b": "b"])
        }
    }

    @Test("bring the rows of before the column, whichever way they are asked for")
    func changes() async throws {
        try await SyncWorld.with(.azureMobileApps) { world in
            try await world.phone.table.insert(["text": "milk"], id: "a")
            try await world.phone.pull()
            let open = world.laptop.table.query.filtered(by: !(Column("complete") == true))
            try await world.laptop.context.pull(open, queryID: "open")
            #expect(try await world.laptop.texts() == ["a": "milk"])
        }
    }
}

@Suite("Pulls by a text within a text")
struct ContainedTextPullTests {
    @Test(
        "work with every server",
        arguments: DatasyncDialect.allCases,
        [EmulatorConfiguration.Edition.usual, .predecessor]
    )
    func everywhere(_ dialect: DatasyncDialect, _ edition: EmulatorConfiguration.Edition) async throws {
        try await SyncWorld.with(dialect, edition: edition) { world in
            for text in ["milk", "bread"] { try await world.phone.table.insert(["text": .string(text)], id: text) }
            try await world.phone.pull()
            let query = world.laptop.table.query.filtered(by: Column("text").contains("il"))
            let everything = PullOptions(order: .pullOnly, reconciles: true)
            #expect(try await world.laptop.context.pull(query, options: everything).isComplete)
            #expect(try await world.laptop.texts() == ["milk": "milk"])
        }
    }
}
