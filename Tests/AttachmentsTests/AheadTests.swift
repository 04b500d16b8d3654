import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import ItemCoding
import OfflineSync
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing
import VirtualTime

@testable import Attachments

@Suite("Files that are fetched before somebody asks for them", .timeLimit(.minutes(5)))
struct AheadTests {
    let emulator: Emulator

    init() {
        var configuration = EmulatorConfiguration(tables: ["Coupon"])
        configuration.pageSize = 1_000
        emulator = Emulator(configuration)
    }

    private func device(
        _ ahead: AttachmentsAhead = .none,
        spaceLimit: Int64 = 1 << 30,
        in folder: TestFolder? = nil
    ) async throws -> PhotoDevice {
        let transport = EmulatorTransport(emulator)
        let remote = try DatasyncRemote(baseURL: EmulatorTransport.url, dialect: .datasync, transport: transport)
        let options = AttachmentOptions(spaceLimit: spaceLimit, ahead: ahead)
        return try await PhotoDevice(in: folder, options: options, remote: remote)
    }

    /// Coupons of another device with a photo of 100,000 bytes each, and the photos.
    private func addCoupons(_ titles: String...) async throws -> [AttachmentID] {
        let other = try await device()
        var ids: [AttachmentID] = []
        for (seed, title) in titles.enumerated() {
            ids.append(try await other.add(content(100_000, seed: UInt64(seed) + 1), title).1)
        }
        _ = try await other.context.push()
        try await other.attachments.settle()
        await other.close()
        return ids
    }

    private func pull(_ device: PhotoDevice) async throws {
        _ = try await device.coupons.pull()
        try await device.attachments.settle()
    }

    private func states(_ ids: [AttachmentID], _ device: PhotoDevice) async throws -> [AttachmentState] {
        var states: [AttachmentState] = []
        for id in ids { states.append(try await device.attachments.state(of: id)) }
        return states
    }

    private var fetched: [String] {
        emulator.requests.map(\.request).filter { $0.method == "GET" && $0.path.contains("/attachments/") }.map(\.path)
    }

    @Test("are those of all rows of a large page", arguments: [201, 401])
    func manyRows(_ count: Int) async throws {
        let eager = try await device(.all)
        try await eager.attachments.settle()
        let other = try await device()
        var coupons: [Coupon] = []
        for _ in 0..<count { coupons.append(Coupon(photo: try await other.attachments.add(Data([1])))) }
        try await other.context.write { [coupons, table = other.coupons] in
            try $0.insert(contentsOf: coupons, into: table)
        }
        _ = try await other.context.push()
        try await other.attachments.settle()
        await other.close()
        try await pull(eager)
        let states = try await states(coupons.compactMap(\.photo), eager)
        #expect(states.count { $0 == .synced } == count)
        await eager.close()
    }

    @Test("are all that rows name which a pull brings, and none unless that is wanted")
    func all() async throws {
        let ids = try await addCoupons("a", "b", "c")
        let idle = try await device()
        try await pull(idle)
        #expect(try await states(ids, idle) == [.unknown, .unknown, .unknown])
        await idle.close()
        let eager = try await device(.all)
        try await eager.attachments.settle()
        try await pull(eager)
        #expect(try await states(ids, eager) == [.synced, .synced, .synced])
        #expect(fetched.count == 3)
        let isSame = try await eager.attachments.data(of: ids[1]) == Data(content(100_000, seed: 2))
        #expect(isSame)
        #expect(fetched.count == 3)
        await eager.close()
    }

    @Test("are those of a column whose rows satisfy a condition, also when a row comes to do so later")
    func condition() async throws {
        let ids = try await addCoupons("new", "old")
        let eager = try await device([.column(\Coupon.receipt), .column(\Coupon.photo) { $0.title == "new" }])
        try await pull(eager)
        #expect(try await states(ids, eager) == [.synced, .unknown])
        let other = try await device()
        _ = try await other.coupons.pull()
        let old = try #require(try await other.coupons.where { $0.title == "old" }.first())
        try await other.coupons.update(old.id) { $0.title = "new" }
        _ = try await other.context.push()
        await other.close()
        try await pull(eager)
        #expect(try await states(ids, eager) == [.synced, .synced])
        await eager.close()
    }

    @Test("are those of rows that were here before it was wanted, and not those that are no longer wanted")
    func turnedOn() async throws {
        let ids = try await addCoupons("a", "b")
        let before = try await device()
        try await pull(before)
        await before.close()
        let after = try await device(.column("photo", of: "Coupon", where: Column("title") == "b"), in: before.folder)
        try await after.attachments.settle()
        #expect(try await states(ids, after) == [.unknown, .synced])
        await after.close()
    }

    @Test("are those of rows that come when everything is brought anew")
    func reset() async throws {
        let first = try await addCoupons("a")
        let eager = try await device(.all)
        try await pull(eager)
        let second = try await addCoupons("b")
        _ = try await eager.context.reset(onto: [FreshPull(Query("Coupon"))], discardsChanges: false)
        try await eager.attachments.settle()
        #expect(try await states(first + second, eager) == [.synced, .synced])
        await eager.close()
    }

    @Test("fit under the limit of space beside what is here, and are the first to make room")
    func space() async throws {
        let ids = try await addCoupons("a", "b", "c", "d")
        let device = try await device(spaceLimit: 250_000)
        _ = try await device.attachments.data(of: ids[0])
        await device.close()
        let eager = try await self.device(.all, spaceLimit: 250_000, in: device.folder)
        // What comes now is younger than what was used.
        eager.clock.advance(by: .seconds(100))
        try await pull(eager)
        var all = try await states(ids, eager)
        #expect(all[0] == .synced)
        #expect(all.filter { $0 == .synced }.count == 2)
        #expect(all.filter { $0 == .remote }.count == 2)
        #expect(try eager.fileNames().count == 2)
        // What does not fit is not fetched only to go again.
        for id in zip(ids, all).filter({ $0.1 == .remote }).map(\.0) {
            #expect(try await eager.store.read { try $0.attachment(id) }?.digest == nil)
        }
        // What nobody has used goes for what somebody asks for, and does not come again by itself.
        let (here, gone) = (try #require(all.lastIndex(of: .synced)), try #require(all.firstIndex(of: .remote)))
        _ = try await eager.attachments.data(of: ids[gone])
        try await eager.attachments.settle()
        all = try await states(ids, eager)
        #expect(all[0] == .synced && all[gone] == .synced && all[here] == .remote)
        let count = fetched.count
        try await eager.attachments.settle()
        #expect(fetched.count == count)
        // As soon as somebody has used it, it is one like the others.
        _ = try await eager.attachments.data(of: ids[here])
        #expect(try await states(ids, eager).filter { $0 == .synced }.count == 2)
        await eager.close()
    }

    @Test("are fetched when there is room for them again")
    func roomAgain() async throws {
        let ids = try await addCoupons("a", "b")
        let eager = try await device(.all, spaceLimit: 150_000)
        try await pull(eager)
        let all = try await states(ids, eager)
        let (here, other) = (try #require(all.firstIndex(of: .synced)), try #require(all.firstIndex(of: .remote)))
        try await eager.attachments.remove(ids[here])
        try await eager.attachments.settle()
        #expect(try await eager.attachments.state(of: ids[other]) == .synced)
        await eager.close()
    }

    @Test("of a column that has none, or with a condition that makes no sense, are an error when the store is opened")
    func mistakes() async throws {
        let wrong: [AttachmentsAhead] = [
            .column(\Coupon.title), .column("photo", of: "Brand", where: nil),
            .column(\Coupon.photo) { _ in Column("price") > 1 }, .column(\Coupon.photo) { _ in Column("title") > 1 },
        ]
        for ahead in wrong {
            let error = await #expect(throws: StoreError.self) { try await device(ahead) }
            #expect(error?.code == .invalidQuery)
        }
        let rules = try AttachmentsAhead.all.rules(for: PhotoDevice.schema())
        #expect(rules.map(\.column) == ["photo", "receipt"])
    }
}
