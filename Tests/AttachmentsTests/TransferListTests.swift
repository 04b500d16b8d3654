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
        /// How many rows queries have given.
        private(set) var rows = 0

        init(_ base: any StoreReadBackend) { self.base = base }

        func definition(of table: String) throws -> TableDefinition { try base.definition(of: table) }

        func record(_ id: RecordID, in table: String) throws -> Record? {
            count += 1
            return try base.record(id, in: table)
        }

        func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
            count += 1
            try base.forEach(query) { row in
                rows += 1
                try body(row)
            }
        }

        func count(_ query: Query) throws -> Int {
            count += 1
            return try base.count(query)
        }
    }

    private func read(_ device: PhotoDevice) async throws -> (transfers: [Transfer], queries: Int, rows: Int) {
        let references = AttachmentReferences(device.store.schema)
        return try await device.store.read { reader in
            let backend = CountingBackend(reader.backend)
            var counting = StoreReader(backend)
            return (try TransferList.read(references, &counting), backend.count, backend.rows)
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

    @Test("looks at no more files than are sent next, however many wait, unless rows wait before them")
    func bound() async throws {
        let device = try await PhotoDevice(hasServer: false)
        func add(_ count: Int, isDue: Bool, from time: Int64) async throws {
            try await device.store.write { transaction in
                for number in 0..<count {
                    let used = Timestamp(milliseconds: time + Int64(number))
                    var file = AttachmentFile(
                        AttachmentID.make(),
                        name: try AttachmentFolder.newName(),
                        key: try AttachmentFolder.newKey(),
                        lastUsed: used
                    )
                    (file.isHere, file.isDue) = (true, isDue)
                    try transaction.save(file)
                }
            }
        }
        try await add(1_500, isDue: true, from: 1_000_000)
        let due = try await read(device)
        #expect(due.transfers.count == 400 && due.rows == 400)
        // Those whose rows wait come first, and hide nothing.
        try await add(500, isDue: false, from: 0)
        let behind = try await read(device)
        #expect(behind.transfers == due.transfers && behind.rows == 2_000)
        await device.close()
    }
}
