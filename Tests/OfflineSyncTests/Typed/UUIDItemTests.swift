import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import ItemCoding
import OfflineSync
import ReferenceStore
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@Suite("Items with UUIDs as ids")
struct UUIDItemTests {
    struct Brand: SyncItem, Equatable {
        var id = UUID()
        var name: String
    }

    struct Coupon: SyncItem, Equatable {
        var id = UUID()
        var title: String
        var brandID: UUID?
        var state = SyncState.synced
    }

    /// A store of each kind.
    enum Kept: CaseIterable { case inMemory, encrypted }

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static func tables() throws -> [TableDefinition] {
        [try TableDefinition(Brand.self), try TableDefinition(Coupon.self, .references(\.brandID, Brand.self))]
    }

    private func with(
        _ kept: Kept = .inMemory,
        remote: any SyncRemote = UnavailableRemote.unreachable,
        _ body: (SyncContext, SyncTable<Brand>, SyncTable<Coupon>) async throws -> Void
    ) async throws {
        let store: any SyncContextDataSource =
            switch kept {
            case .inMemory: MemoryStore(try StoreSchema(Self.tables()))
            case .encrypted: try await EncryptedStore.open(in: folder, try Self.tables())
            }
        let context = SyncContext(store: store, remote: remote)
        try await body(context, context.table(Brand.self), context.table(Coupon.self))
        if let store = store as? EncryptedStore { await store.close() }
    }

    struct Picture: SyncItem, Equatable {
        var id = UUID()
        var file: AttachmentID?
    }

    @Test("a file whose name is a UUID is found in whatever case a server wrote it", arguments: Kept.allCases)
    func files(_ kept: Kept) async throws {
        let table = try TableDefinition(Picture.self)
        let store: any SyncContextDataSource =
            switch kept {
            case .inMemory: MemoryStore(try StoreSchema([table]))
            case .encrypted: try await EncryptedStore.open(in: folder, [table])
            }
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        let pictures = try context.table(Picture.self)
        let (name, plain) = (AttachmentID.make(), try #require(AttachmentID("Plain-1")))
        let lower = try await pictures.insert(Picture(file: name))
        let upper = UUID()
        try await pictures.table.insert(["file": .string(name.text.uppercased())], id: upper.uuidString)
        let other = try await pictures.insert(Picture(file: plain))
        #expect(try await Set(pictures.where { $0.file == name }.read().map(\.id)) == [lower.id, upper])
        #expect(try await pictures.where { $0.file != name }.read().map(\.id) == [other.id])
        #expect(try await pictures.where { $0.file.isAny(of: [name, plain]) }.count() == 3)
        // Another name is one text.
        #expect(try await pictures.where { $0.file == AttachmentID("PLAIN-1") }.count() == 0)
        #expect(try await pictures.where { $0.file == plain }.count() == 1)
        if let store = store as? EncryptedStore { await store.close() }
    }

    @Test("every call takes them, and they are stored as text in upper case", arguments: Kept.allCases)
    func calls(_ kept: Kept) async throws {
        try await with(kept) { context, brands, coupons in
            let brand = try await brands.insert(Brand(name: "a"))
            let other = try await brands.insert(Brand(name: "b"))
            #expect(try await brands.table.read(brand.id.uuidString)?.id == .string(brand.id.uuidString))
            let (found, missing) = (try await brands.read(brand.id), try await brands.read(UUID()))
            #expect(found == brand && missing == nil)

            let coupon = try await context.write { tx in
                try tx.insert(contentsOf: [Coupon(title: "y", brandID: other.id)], into: coupons)
                let coupon = try tx.insert(Coupon(title: "x", brandID: brand.id), into: coupons)
                return try tx.update(coupon.id, in: coupons) { $0.title += "!" }
            }
            #expect(coupon.title == "x!" && coupon.state == .pending)
            #expect(try await coupons.where { $0.brandID == brand.id }.read() == [coupon])
            #expect(try await coupons.where { $0.brandID != brand.id }.count() == 1)
            #expect(try await coupons.where { $0.brandID.isAny(of: [brand.id, other.id]) }.count() == 2)
            #expect(try await coupons.where { $0.id == coupon.id && $0.state != .synced }.read() == [coupon])
            #expect(try await brands.ordered(by: \.id).read().count == 2)
            #expect(try await context.read { try $0.read(coupon.id, in: coupons) } == coupon)

            var live = coupons.observe(coupon.id).makeAsyncIterator()
            #expect(try await live.next() == coupon)
            var changed = coupon
            changed.title = "z"
            try await coupons.update(changed)
            #expect(try await live.next()??.title == "z")
            try await coupons.delete(coupon.id)
            #expect(try await coupons.read(coupon.id) == nil)
            try await context.write { try $0.delete(brand.id, from: brands) }
            #expect(try await brands.read() == [other])
            try await brands.revert(other.id)
            #expect(try await brands.read().isEmpty)
            #expect(try await brands.serverID(of: other.id) == other.id.uuidString)
            #expect(try await brands.id(ofServerID: other.id.uuidString.lowercased()) == other.id)
        }
    }

    @Test("a server's id in lower case is the same id, here and on the way back", arguments: Kept.allCases)
    func lowerCase(_ kept: Kept) async throws {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["Brand", "Coupon"]))
        let (brandID, couponID) = (UUID(), UUID())
        let spelling = couponID.uuidString.lowercased()
        try emulator.seed([["id": .string(brandID.uuidString.lowercased()), "name": "a"]], in: "Brand")
        try emulator.seed(
            [
                [
                    "id": .string(spelling), "title": "x",
                    "brandID": .string(brandID.uuidString.lowercased()),
                ]
            ],
            in: "Coupon"
        )
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator)
        )
        try await with(kept, remote: remote) { context, brands, coupons in
            try await brands.pull()
            try await coupons.pull()
            let coupon = try #require(try await coupons.read(couponID))
            #expect(coupon.brandID == brandID)
            #expect(try await coupons.where { $0.brandID == brandID }.read() == [coupon])
            #expect(try await coupons.where { $0.id == couponID }.count() == 1)
            #expect(try await coupons.count(by: \.brandID) == [brandID: 1])

            try await coupons.update(couponID) { $0.title = "y" }
            #expect(try await coupons.read(couponID)?.state == .pending)
            try await coupons.update(Coupon(id: couponID, title: "z", brandID: brandID))
            #expect(try await context.push().pushed == 1)
            #expect(emulator.rows(in: "Coupon").count == 1)
            #expect(emulator.rows(in: "Coupon").first?["brandID"] == .string(brandID.uuidString.lowercased()))
            #expect(try await coupons.table.read(spelling)?.id == .string(spelling))

            let online: RemoteTable<Coupon> = try context.remoteTable(Coupon.self)
            #expect(try await online.read(couponID)?.title == "z")
            #expect(try await online.patch(couponID, ["title": "p"]).state == .synced)
            #expect(try await online.update(Coupon(id: couponID, title: "u")).title == "u")
            try await online.delete(couponID)
            #expect(try await online.read(couponID) == nil)
            try await coupons.delete(couponID)
            try await coupons.undoDelete(couponID)
            #expect(try await coupons.read(couponID)?.title == "z")
        }
    }

    @Test(
        "a row is named to the server in the letters of its id there, in rows and in conditions",
        arguments: Kept.allCases
    )
    func lowerCaseReference(_ kept: Kept) async throws {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["Brand", "Coupon"]))
        let brand = Brand(name: "a")
        let spelling = brand.id.uuidString.lowercased()
        try emulator.seed([["id": .string(spelling), "name": "a"]], in: "Brand")
        try emulator.seed([["id": "x", "title": "theirs", "brandID": .string(spelling)]], in: "Coupon")
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator)
        )
        try await with(kept, remote: remote) { context, brands, coupons in
            try await brands.pull()
            let new = Brand(name: "b")
            try await context.write { tx in
                try tx.insert(new, into: brands)
                try tx.insert(Coupon(title: "x", brandID: brand.id), into: coupons)
                try tx.insert(Coupon(title: "y", brandID: new.id), into: coupons)
                try tx.insert(Coupon(title: "z", brandID: nil), into: coupons)
            }
            #expect(try await context.push().pushed == 4)
            let sent = Dictionary(
                uniqueKeysWithValues: emulator.rows(in: "Coupon").map { ($0["title"]?.string ?? "", $0["brandID"]) }
            )
            #expect(sent["x"] == .string(spelling) && sent["y"] == .string(new.id.uuidString))
            #expect(try await coupons.where { $0.brandID == brand.id }.pull().setAside.isEmpty)
            #expect(try await coupons.table.read("x")?["title"] == "theirs")
        }
    }

    @Test("an id that is no UUID is a row without an item", arguments: ["x", "00000000000040008000000000000001", "{"])
    func unreadable(_ id: String) async throws {
        let table = try TableDefinition(Brand.self)
        let store = MemoryStore(try StoreSchema([table]))
        try await store.upsert([Record(id: .string(id), ["name": "a"])], table: "Brand")
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        let brands = try context.table(Brand.self)
        let brand = try await brands.insert(Brand(name: "b"))
        var leftOut: [RecordID] = []
        #expect(try await brands.query(leavingOut: &leftOut) == [brand])
        #expect(leftOut == [.string(id)])
    }

    @Test("a table of theirs ignores case, and one that does not is refused")
    func comparison() throws {
        #expect(try TableDefinition(Brand.self).idComparison == .asciiCaseInsensitive)
        #expect(try TableDefinition(Brand.self, .idComparison(.asciiCaseInsensitive)).idComparison != .exact)
        let refused = #expect(throws: StoreError.self) { try TableDefinition(Brand.self, .idComparison(.exact)) }
        #expect(refused?.code == .invalidSchema && refused?.message.contains("'Brand'") == true)
        let declared = TableDefinition("Brand", columns: [.init("name", .string)])
        let context = SyncContext(
            store: MemoryStore(try StoreSchema([declared])),
            remote: UnavailableRemote.unreachable
        )
        #expect(throws: StoreError.self) { try context.table(Brand.self) }
    }
}

extension SyncTable where Item: Codable, Item.ID: RowID {
    /// All items, and the ids of the rows that have none.
    func query(leavingOut ids: inout [RecordID]) async throws -> [Item] {
        var found: [RecordID] = []
        let items = try await read(onUndecodable: { id, _ in found.append(id) })
        ids = found
        return items
    }
}
