import Foundation
import OfflineSync
import SyncContract
import Testing

@Suite("Online tables with items, of tables that the store does not have")
struct UndeclaredItemTableTests {
    private struct Receipt: SyncItem, Equatable {
        var id = ""
        var text: String
        var paidAt: Date
        var total: Decimal
        var scan: Data
        var note: String?
        var version: String?
    }

    /// A type of which nothing can be made up.
    private struct Sealed: SyncItem, Equatable {
        enum Colour: String, Codable { case red, green }

        var id = ""
        var colour: Colour
        var count: Int
    }

    @Test("have columns of the types of the properties", arguments: [OnlineWorld.Service.datasync, .node])
    func described(_ service: OnlineWorld.Service) async throws {
        let receipts = try OnlineWorld(service).context.remoteTable("Other", of: Receipt.self)
        let paidAt = Date(timeIntervalSince1970: 1_700_000_000.5)
        let total = try #require(Decimal(string: "12.5"))
        let made = Receipt(id: "a", text: "milk", paidAt: paidAt, total: total, scan: Data([0, 255]))
        let inserted = try await receipts.insert(made)
        #expect(inserted.paidAt == paidAt && inserted.total == total && inserted.scan == made.scan)
        #expect(try await receipts.read() == [inserted])
        var changed = inserted
        changed.paidAt = paidAt.addingTimeInterval(60)
        #expect(try await receipts.update(changed).paidAt == changed.paidAt)
        #expect(receipts.definition.type(of: "paidAt") == .date)
    }

    @Test("have those that JSON has where the type cannot be described")
    func notDescribed() async throws {
        let table = try OnlineWorld(.datasync).context.remoteTable("Other", of: Sealed.self)
        #expect(table.definition.columns.isEmpty)
        let made = Sealed(id: "a", colour: .green, count: 3)
        #expect(try await table.insert(made) == made)
        #expect(try await table.read() == [made])
    }
}
