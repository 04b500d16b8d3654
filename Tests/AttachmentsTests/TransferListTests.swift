import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStore
import SyncContract
import Testing

@testable import Attachments

@Suite("What there is to be carried")
struct TransferListTests {
    /// Counts what is asked of a store.
    private final class CountingBackend: StoreReadBackend {
        private let base: any StoreReadBackend
        private(set) var count = 0

        init(_ base: any StoreReadBackend) { self.base = base }

        func definition(of table: String) throws -> TableDefinition { try base.definition(of: table) }

        func record(_ id: RecordID, in table: String) throws -> Record? {
            count += 1
            return try base.record(id, in: table)
        }

        func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
            count += 1
            try base.forEach(query, body)
        }

        func count(_ query: Query) throws -> Int {
            count += 1
            return try base.count(query)
        }
    }

    private func read(_ device: PhotoDevice) async throws -> (transfers: [Transfer], queries: Int) {
        let references = AttachmentReferences(device.store.schema)
        return try await device.store.read { reader in
            let backend = CountingBackend(reader.backend)
            var counting = StoreReader(backend)
            return (try TransferList.read(references, &counting), backend.count)
        }
    }

    @Test("is found with as many queries for thousands of files whose rows wait as for one")
    func queries() async throws {
        // Without a server nothing is looked for beside the test.
        let device = try await PhotoDevice(hasServer: false)
        var ids: [AttachmentID] = []
        func add(_ count: Int) async throws {
            for _ in 0..<count { ids.append(try await device.add([1]).1) }
        }
        try await add(1)
        let one = try await read(device)
        try await add(60)
        let many = try await read(device)
        #expect(one.transfers == [] && many.transfers == [])
        #expect(many.queries == one.queries)
        // Two rows are taken, of which one changes again; two rows name one file.
        _ = try await device.context.push()
        try await device.coupons.insert(Coupon(receipt: ids[4]))
        let changed = try await device.coupons.read(Query("Coupon")).filter { $0.photo != ids[3] && $0.photo != ids[4] }
        for coupon in changed where coupon.photo != nil {
            try await device.coupons.update(coupon.id) { $0.title = "changed" }
        }
        let taken = try await read(device)
        #expect(Set(taken.transfers) == [Transfer(.upload, ids[3]), Transfer(.upload, ids[4])])
        #expect(taken.queries == one.queries)
        await device.close()
    }
}
