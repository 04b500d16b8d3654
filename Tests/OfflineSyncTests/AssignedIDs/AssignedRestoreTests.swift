import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

@Suite("Rows that refer to one that is to be brought back, where the server chooses ids")
struct AssignedRestoreTests {
    @Test("wait while it cannot be, and go behind it", arguments: DatasyncDialect.allCases)
    func notRestored(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await phone.lists.insert(["text": "shopping"], id: "l")
            _ = try await phone.context.push()
            try await laptop.pullAll()
            let list = try #require(try await laptop.store.read(Query("Lists")).records.first)
            try await laptop.lists.delete(try #require(list.id.stringValue))
            _ = try await laptop.context.push()
            try await phone.lists.update(Record(id: "l", ["text": "groceries"]))
            let conflict = try #require(try await phone.context.push().conflicts.first)
            try await phone.context.resolve(conflict, with: .keepMine)
            try await phone.tasks.insert(["text": "milk", "list": "l"], id: "t")
            world.emulator.inject(
                .respond(EmulatorResponse(422), times: 1) { $0.method != "GET" && $0.path.contains("Lists") }
            )
            var report = try await phone.context.push()
            #expect(report.failures.map(\.itemID) == ["l"] && report.waiting == 1)
            #expect(world.textsOnServer("Tasks") == [])
            try await phone.context.retryRefused()
            report = try await phone.context.push()
            #expect(report.notTaken.isEmpty && report.waiting == 0)
            #expect(world.toldByServer() == ["groceries: milk"])
            #expect(try await phone.context.operations().isEmpty)
        }
    }
}
