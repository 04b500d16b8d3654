import DatasyncHTTP
import Foundation
import OfflineSync
import SyncContract
import Testing

@Suite("What a session remembers in the store")
struct SessionStorageTests {
    @Test("the time of a complete pull belongs to its name and its query, and ends with a purge")
    func completePull() async throws {
        try await SyncWorld.with(.datasync) { world in
            let (context, table) = (world.phone.context, world.phone.table)
            let date = Date(timeIntervalSince1970: 1_800_000_000.125)
            let query = table.query.filtered(by: Column("complete") == false)
            try await context.storeCompletePull(of: query, PullName(queryID: "open"), at: date)
            #expect(try await context.lastCompletePull(of: query, PullName(queryID: "open")) == date)
            #expect(try await context.lastCompletePull(of: query, PullName()) == nil)
            #expect(try await context.lastCompletePull(of: table, PullName(queryID: "open")) == nil)
            #expect(try await context.lastCompletePull(of: query, PullName(queryID: "other")) == nil)
            try await context.resetDeltaToken(of: query, queryID: "open")
            #expect(try await context.lastCompletePull(of: query, PullName(queryID: "open")) == nil)
            try await context.storeCompletePull(of: table, PullName(), at: date)
            #expect(try await context.lastCompletePull(of: table, PullName()) == date)
            try await context.forcePurge(table.name)
            #expect(try await context.lastCompletePull(of: table, PullName()) == nil)
        }
    }

    @Test("what is suspended is a text, and an empty one leaves nothing behind")
    func suspension() async throws {
        try await SyncWorld.with(.datasync) { world in
            let context = world.phone.context
            #expect(try await context.storedSuspension() == "")
            try await context.storeSuspension("upload")
            #expect(try await context.storedSuspension() == "upload")
            #expect(try await world.phone.store.verifyQueue().isEmpty)
            try await context.storeSuspension("")
            #expect(try await context.storedSuspension() == "")
        }
    }
}
