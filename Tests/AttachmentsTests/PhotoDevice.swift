import DatasyncHTTP
import DurableFiles
import Foundation
import ItemCoding
import OfflineSync
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SyncContract
import SyncSessions
import Synchronization
import VirtualTime

@testable import Attachments

struct Coupon: SyncItem {
    var id = UUID()
    var title = ""
    var photo: AttachmentID?
    var receipt: AttachmentID?
}

/// How far a device's clock was set ahead.
final class ClockSetting: Sendable {
    private let seconds = Atomic<Int>(0)
    func set(ahead seconds: Int) { self.seconds.store(seconds, ordering: .relaxed) }
    var ahead: TimeInterval { TimeInterval(seconds.load(ordering: .relaxed)) }
}

/// A device with an encrypted store, a server of rows and one of files, and the time it goes by.
struct PhotoDevice {
    let folder: TestFolder
    let store: EncryptedStore
    let context: SyncContext
    let coupons: SyncTable<Coupon>
    let rows: RowServer
    let server: FaultyTransport
    let clock: VirtualClock
    let clockSetting = ClockSetting()

    var attachments: SyncAttachments { context.attachments }
    var filesURL: URL { folder.url.appending(path: AttachmentFolder.name) }
    var core: AttachmentCore { get throws { try attachments.opened() } }

    static func schema() throws -> StoreSchema {
        let table = try TableDefinition(Coupon.self, .owns(\.photo))
        return try StoreSchema([table]).withAttachments()
    }

    // With a remote, which is a server of rows and files, the two others have nothing to do.
    init(
        in folder: TestFolder? = nil,
        at place: URL? = nil,
        server: FaultyTransport = FaultyTransport(),
        rows: RowServer = RowServer(),
        clock: VirtualClock = VirtualClock(),
        schema: StoreSchema? = nil,
        options: AttachmentOptions = AttachmentOptions(),
        hasServer: Bool = true,
        remote: DatasyncRemote? = nil,
        fileSystem: FileSystem = FileSystem()
    ) async throws {
        let folder = try folder ?? TestFolder()
        let url = place ?? folder.url
        let store = try await EncryptedStore.open(
            at: url.appending(path: "store.db"),
            key: .testKey(),
            schema: schema ?? Self.schema(),
            translating: .operations,
            mode: .openOrCreate
        )
        let carrier: any AttachmentTransport = try options.transport ?? remote?.attachments() ?? server
        let (origin, setting) = (clock.now, clockSetting)
        let date: @Sendable () -> Date = {
            Date(timeIntervalSince1970: 1_800_000_000 + origin.duration(to: clock.now) / .seconds(1)) + setting.ahead
        }
        context = SyncContext(store: store, remote: remote ?? rows, now: { Timestamp(date()) })
        try await context.startAttachments(
            in: url.appending(path: AttachmentFolder.name),
            options,
            transport: hasServer ? carrier : nil,
            ahead: try options.ahead.rules(for: store.schema),
            environment: AttachmentEnvironment(
                clock: clock,
                date: date,
                random: { 0 },
                fileSystem: fileSystem
            )
        )
        coupons = try context.table(Coupon.self)
        (self.folder, self.store, self.rows, self.server, self.clock) = (folder, store, rows, server, clock)
    }

    /// Adds a photo and a coupon that has it.
    @discardableResult
    func add(_ content: [UInt8], _ title: String = "") async throws -> (Coupon, AttachmentID) {
        let id = try await attachments.add(Data(content))
        return (try await coupons.insert(Coupon(title: title, photo: id)), id)
    }

    /// Adds one and waits until both are on the server.
    func addAndSend(_ content: [UInt8]) async throws -> (Coupon, AttachmentID) {
        let (coupon, id) = try await add(content)
        _ = try await context.push()
        try await attachments.settle()
        return (coupon, id)
    }

    /// Ends everything as the umbrella does.
    func close() async {
        await context.session.close()
        await attachments.close()
        await store.close()
    }

    /// The same device after a restart.
    func reopened(options: AttachmentOptions = AttachmentOptions()) async throws -> PhotoDevice {
        await close()
        return try await PhotoDevice(in: folder, server: server, rows: rows, clock: clock, options: options)
    }

    func fileNames() throws -> [String] { try AttachmentFolder(filesURL).names() }

    /// Returns when a file is in a state that is meant.
    @discardableResult
    func state(of id: AttachmentID, _ isMeant: (AttachmentState) -> Bool) async -> AttachmentState? {
        for await state in attachments.observe(id) where isMeant(state) { return state }
        return nil
    }
}

/// Bytes that differ from chunk to chunk.
func content(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count)
        .map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
}
