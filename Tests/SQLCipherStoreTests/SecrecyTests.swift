import Foundation
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("Nothing is readable on disk")
struct SecrecyTests {
    @Test("no value, id, key, table or column name in any file, while open, left open, and after closing")
    func markers() async throws {
        let folder = try TestFolder()
        let table = TableDefinition(
            "MarkerTable",
            columns: [
                .init("MarkerColumn", .string, isSearchable: true), .init("blob", .bytes), .init("json", .json),
                .init("decimal", .decimal),
            ],
            indexes: [["MarkerColumn"]]
        )
        let store = try await EncryptedStore.open(in: folder, [table], checkpointDelay: nil)
        let markers = [
            "MarkerTable", "MarkerColumn", "MarkerIdentifier", "MarkerText", "MarkerBlob", "MarkerJSON", "MarkerKey",
            "MarkerExtra", "MarkerQuery", "markertext", "987654321987654321", "MS_TableOperations", "SQLite format",
            "CREATE TABLE",
        ]
        let records = (0..<500)
            .map { index in
                Record(
                    id: .string("MarkerIdentifier\(index)"),
                    [
                        "MarkerColumn": .string("MarkerText\(index)"), "MarkerKey": "MarkerExtra",
                        "blob": .bytes(Array("MarkerBlob".utf8) + Array(repeating: 0, count: 3_000)),
                        "json": .json(JSONText("{\"MarkerJSON\":\(index)}")!),
                        "decimal": .decimal(DecimalText("987654321987654321.\(index)")!),
                    ]
                )
            }
        try await store.upsert(records, table: "MarkerTable")
        let operation = Record(id: 1, ["table": "MarkerTable", "itemId": "MarkerIdentifier1"])
        try await store.upsert([operation], table: "MS_TableOperations")
        try await store.delete(Query("MarkerTable").limited(to: 100))
        // A sort that is larger than the cache, and a set of values: both would need files if they were not kept away.
        let query = Query("MarkerTable").filtered(by: !(Column("MarkerColumn") == "MarkerQuery"))
            .ordered(by: "json", .descending)
        let found = try await store.read { reader in
            let contents = try folder.contents()
            let count = try reader.records(query).count
            return (count, contents)
        }
        #expect(found.0 == 400)
        try expectNo(markers, in: found.1)
        #expect(found.1["store.db-wal"]?.isEmpty == false)
        try expectNo(markers, in: folder.contents())
        await store.close()
        let closed = try folder.contents()
        #expect(closed["store.db"]?.count ?? 0 > 500_000)
        try expectNo(markers, in: closed)
    }

    private func expectNo(_ markers: [String], in files: [String: [UInt8]]) throws {
        for (name, bytes) in files {
            let data = Data(bytes)
            for marker in markers {
                #expect(data.range(of: Data(marker.utf8)) == nil, "\(marker) in \(name)")
                let wide = try #require(marker.data(using: .utf16LittleEndian))
                #expect(data.range(of: wide) == nil, "\(marker) in \(name)")
            }
        }
    }

    @Test("the key is in no file and in no error")
    func key() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, keyByte: 0xA7)
        try await store.upsert([Record(id: "1")], table: "items")
        let hexadecimal = String(repeating: "a7", count: 16)
        let forms = [Data(repeating: 0xA7, count: 16), Data(hexadecimal.utf8), Data(hexadecimal.uppercased().utf8)]
        for (name, bytes) in try folder.contents() {
            for form in forms { #expect(Data(bytes).range(of: form) == nil, "\(name)") }
        }
        await store.close()
    }
}
