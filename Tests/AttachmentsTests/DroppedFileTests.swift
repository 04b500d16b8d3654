import Foundation
import ItemCoding
import OfflineSync
import RemoteContract
import SQLCipherStoreTestSupport
import SyncContract
import Testing
import VirtualTime

@testable import Attachments

@Suite("A file that is not sent, of a column that is dropped", .timeLimit(.minutes(1)))
struct DroppedFileTests {
    /// Where the rows name it.
    enum Place: CaseIterable, Sendable {
        case column, columnOfAnotherName, localColumn, localColumnBesideAnotherName, localTable

        var table: TableDefinition {
            let photo =
                switch self {
                case .column, .localTable: ColumnDefinition("photo", .string, attachment: .refers)
                case .columnOfAnotherName:
                    ColumnDefinition("photo", .string, wireName: "picture", attachment: .refers)
                case .localColumn, .localColumnBesideAnotherName:
                    ColumnDefinition("photo", .string, isLocal: true, attachment: .refers)
                }
            return TableDefinition(
                "Gallery",
                columns: [
                    .init("title", .string, wireName: self == .localColumnBesideAnotherName ? "heading" : nil), photo,
                ],
                isLocalOnly: self == .localTable
            )
        }
    }

    /// What a new version of the app has not any more.
    enum Dropping: CaseIterable, Sendable { case column, table }

    private func schema(dropping: Dropping, of place: Place) throws -> StoreSchema {
        let coupons = try TableDefinition(Coupon.self)
        switch dropping {
        case .column:
            let gallery = TableDefinition(
                "Gallery",
                columns: [.init("title", .string)],
                isLocalOnly: place == .localTable
            )
            let migration = Migration(to: 2, .dropColumn("photo", in: "Gallery"))
            return try StoreSchema(version: 2, [coupons, gallery], migrations: [migration]).withAttachments()
        case .table:
            let migration = Migration(to: 2, .dropTable("Gallery"))
            return try StoreSchema(version: 2, [coupons], migrations: [migration]).withAttachments()
        }
    }

    /// Whether the server has the file of a row that it had taken, after the migration.
    private func isSent(_ place: Place, _ dropping: Dropping, isEdited: Bool = false) async throws -> Bool {
        let tables = try StoreSchema([TableDefinition(Coupon.self), place.table]).withAttachments()
        let device = try await PhotoDevice(schema: tables)
        device.server.set { _ in .failed(FaultyTransport.broken) }
        let id = try await device.attachments.add(Data([1]))
        let gallery = try device.context.table("Gallery")
        try await gallery.insert(["title": "before", "photo": .string(id.text)], id: "a")
        _ = try await device.context.push()
        if isEdited { try await gallery.update(Record(id: "a", ["title": "after"])) }
        await device.close()
        device.server.set { _ in .answered }
        let reopened = try await PhotoDevice(
            in: device.folder,
            server: device.server,
            rows: device.rows,
            clock: device.clock,
            schema: schema(dropping: dropping, of: place)
        )
        try await reopened.attachments.settle()
        let isSent = device.server[id]?.isComplete == true
        // It is here no longer than any other.
        for _ in 0..<3 {
            try await reopened.core.work.removeUnused()
            reopened.clock.advance(by: .seconds(86_400))
        }
        #expect(try await reopened.attachments.state(of: id) == .unknown)
        await reopened.close()
        return isSent
    }

    @Test(
        "is sent when the server has taken the row",
        arguments: [Place.column, .columnOfAnotherName],
        Dropping.allCases
    )
    func taken(place: Place, dropping: Dropping) async throws {
        #expect(try await isSent(place, dropping))
    }

    @Test("is sent when another change of the row waits")
    func edited() async throws { #expect(try await isSent(.column, .column, isEdited: true)) }

    @Test(
        "is not sent where what names it stays on the device since, although the server has had it",
        arguments: [Place.localColumn, .localTable],
        Dropping.allCases
    )
    func localSince(place: Place, dropping: Dropping) async throws {
        func tables(_ place: Place) throws -> StoreSchema {
            try StoreSchema([TableDefinition(Coupon.self), place.table]).withAttachments()
        }
        func reopened(_ device: PhotoDevice, _ schema: StoreSchema) async throws -> PhotoDevice {
            await device.close()
            return try await PhotoDevice(
                in: device.folder,
                server: device.server,
                rows: device.rows,
                clock: device.clock,
                schema: schema
            )
        }
        var device = try await PhotoDevice(schema: tables(.column))
        let first = try await device.attachments.add(Data([1]))
        try await device.context.table("Gallery").insert(["title": "a", "photo": .string(first.text)], id: "a")
        _ = try await device.context.push()
        try await device.attachments.settle()
        #expect(device.server[first]?.isComplete == true)
        device = try await reopened(device, tables(place))
        let second = try await device.attachments.add(Data([2]))
        try await device.context.table("Gallery").insert(["title": "b", "photo": .string(second.text)], id: "b")
        _ = try await device.context.push()
        device = try await reopened(device, schema(dropping: dropping, of: place))
        try await device.attachments.settle()
        #expect(device.server[second] == nil)
        await device.close()
    }

    @Test(
        "is not sent when the server has no such column",
        arguments: [Place.localColumn, .localColumnBesideAnotherName, .localTable],
        Dropping.allCases
    )
    func local(place: Place, dropping: Dropping) async throws {
        #expect(try await !isSent(place, dropping))
    }
}
