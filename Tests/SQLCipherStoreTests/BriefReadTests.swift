import SQLCipherStoreTestSupport
import SyncContract
import Synchronization
import Testing

@testable import SQLCipherStore

@Suite("Brief reads")
struct BriefReadTests {
    @Test("a brief read that finds a value too large for it runs again, on the queue, and reads all of it")
    func largeValues() async throws {
        try await StoreSession.with(readerCount: 1) { session in
            let catalog = session.catalog
            try await session.writer.transaction { database in
                for count in [100, 20_000, 2_000_000] {
                    let row = Record(
                        id: .string("\(count)"),
                        ["bytes": .bytes(Array(repeating: 7, count: count)), "text": .string("x")]
                    )
                    try WriteBackend(database, catalog).upsert([row], into: "items")
                    let text = Record(
                        id: .string("text \(count)"),
                        ["text": .string(String(repeating: "x", count: count))]
                    )
                    try WriteBackend(database, catalog).upsert([text], into: "items")
                }
            }
            // A value may be the larger the fewer rows there are.
            for (count, rows, runs) in [
                (100, 1, 1), (100, 100, 1), (20_000, 1, 1), (20_000, 100, 2), (2_000_000, 1, 2),
            ] {
                for id in ["\(count)", "text \(count)"] {
                    let seen = Mutex(0)
                    let record = try await session.readers.readInPlace(rows: rows) { database in
                        seen.withLock { $0 += 1 }
                        return try ReadBackend(database, catalog).run { try $0.record(.string(id), in: "items") }
                    }
                    #expect(seen.withLock { $0 } == runs, "\(id), \(rows)")
                    let size =
                        id == "\(count)"
                        ? record?["bytes"]?.bytesValue?.count : record?["text"]?.stringValue?.utf8.count
                    #expect(size == count, "\(id), \(rows)")
                }
            }
            let count = try await session.readers.read { try $0.int64("SELECT SUM(length(bytes)) FROM items") }
            #expect(count == 2_020_100, "the limit is that of the brief read alone")
        }
    }
}
