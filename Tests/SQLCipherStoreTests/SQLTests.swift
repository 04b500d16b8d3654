import Foundation
import ItemCoding
import ReferenceStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("Reports in SQL")
struct SQLTests {
    static let customers = TableDefinition("Customer", columns: [.init("name", .string)])
    static let invoices = TableDefinition(
        "Invoice",
        columns: [
            .init("customerID", .string), .init("status", .string), .init("amount", .decimal), .init("count", .int64),
            .init("due", .date), .init("paid", .bool), .init("score", .double), .init("note", .json),
            .init("scan", .bytes),
        ],
        indexes: [["customerID"]]
    )

    enum Status: String, Codable, ColumnValue { case draft, sent }

    struct Turnover: Decodable, Sendable, Equatable {
        var name: String
        var invoices: Int
        var total: Decimal
    }

    @Test("a property of a type that takes a null itself gets the null of its column")
    func nulls() async throws {
        struct Box<Value: Decodable & Sendable & Equatable>: Decodable, Sendable, Equatable {
            var value: Value
        }
        let (folder, store) = try await Self.filledStore()
        let sql: SQLQuery = "SELECT NULL AS value"
        #expect(try await store.sql(sql, as: Box<Int?>.self).read() == [Box(value: nil)])
        #expect(try await store.sql(sql, as: Box<Date?>.self).read() == [Box(value: nil)])
        await #expect(throws: StoreError.self) { try await store.sql(sql, as: Box<Date>.self).read() }
        await store.close()
        _ = folder
    }

    @Test("join, group and add decimals exactly, as items of a type")
    func turnover() async throws {
        let (folder, store) = try await Self.filledStore()
        let (invoices, customers) = (Self.invoices, Self.customers)
        let (status, since) = (Status.sent, Date(timeIntervalSince1970: 1))
        let report = store.sql(
            """
            SELECT c.name, count(*) AS invoices, decimal_sum(i.amount) AS total
            FROM \(invoices) i JOIN \(customers) c ON c.id = i.customerID
            WHERE i.due >= \(since) AND i.status = \(status)
            GROUP BY c.id ORDER BY total COLLATE decimal DESC -- the richest first
            """,
            as: Turnover.self
        )
        let total = try #require(Decimal(string: "100000000000000000000.3"))
        #expect(
            try await report.read() == [
                Turnover(name: "Ann", invoices: 2, total: total), Turnover(name: "Bob", invoices: 1, total: 9),
            ]
        )
        let inTransactions = try await (
            store.read { try $0.rows("SELECT count(*) AS n FROM \(invoices)") },
            store.write { transaction in
                try transaction.upsert([Record(id: "new")], into: invoices.name)
                return try transaction.rows("SELECT count(*) AS n FROM \(invoices)")
            }
        )
        #expect(inTransactions.0 == [SQLRow(names: ["n"], values: [4])])
        #expect(inTransactions.1 == [SQLRow(names: ["n"], values: [5])])
        await store.close()
        _ = folder
    }

    @Test(
        "give declared columns their types, through joins, subqueries and other names, and leave the rest as SQL has it"
    )
    func kinds() async throws {
        let (folder, store) = try await Self.filledStore()
        let rows =
            try await store.sql(
                """
                WITH late(x, day) AS (SELECT amount, due FROM Invoice WHERE id = 'i1')
                SELECT x, day AS "when", (SELECT paid FROM Invoice WHERE id = 'i1') AS p,
                    i.paid, i.count, i.score, i.note, i.scan,
                    i.id, max(i.due) AS latest, i.amount || '' AS text, NULL AS empty
                FROM late JOIN "Invoice" AS i ON i.id = 'i1'
                """
            )
            .read()
        let row = try #require(rows.first)
        #expect(row["x"] == DecimalText("0.1").map(FieldValue.decimal))
        #expect(row["when"] == .date(Timestamp(milliseconds: 5_000)))
        #expect(row["p"] == 1 || row["p"] == true)
        #expect(row["paid"] == true)
        #expect(row["count"] == 3)
        #expect(row["score"] == 1.5)
        #expect(row["note"] == JSONText(#"{"a":1}"#).map(FieldValue.json))
        #expect(row["scan"] == .bytes([1, 2]))
        #expect(row["id"] == "i1")
        #expect(row["latest"] == 5_000)
        #expect(row["text"] == "0.1")
        #expect(row["empty"] == .null)
        #expect(row["none"] == nil)
        // What a union mixes keeps what it is.
        let mixed = try await store.sql("SELECT amount AS x FROM Invoice WHERE id = 'i1' UNION ALL SELECT 'text'")
            .read()
        #expect(mixed.map { $0["x"] } == [DecimalText("0.1").map(FieldValue.decimal), "text"])
        await store.close()
        _ = folder
    }

    @Test("turn values into what a property asks for, and name the column that does not fit, never the value")
    func properties() async throws {
        struct Row: Decodable, Sendable, Equatable {
            var flag: Bool
            var day: Date
            var exact: Decimal
            var number: Decimal
            var whole: Int8
            var status: Status
            var missing: String?
            var empty: Int?
        }
        let (folder, store) = try await Self.filledStore()
        let rows =
            try await store.sql(
                """
                SELECT 1 AS flag, max(due) AS day, '0.10' AS exact, 0.25 AS number, round(2.4) AS whole,
                    'sent' AS status,
                    NULL AS empty FROM Invoice WHERE id = \("i1")
                """,
                as: Row.self
            )
            .read()
        let exact = try #require(Decimal(string: "0.1"))
        #expect(
            rows == [
                Row(
                    flag: true,
                    day: Date(timeIntervalSince1970: 5),
                    exact: exact,
                    number: 0.25,
                    whole: 2,
                    status: .sent,
                    missing: nil,
                    empty: nil
                )
            ]
        )
        struct Count: Decodable, Sendable { var n: Int }
        for (query, name) in [
            ("SELECT 'secret' AS n" as SQLQuery, "'n'"), ("SELECT NULL AS n", "'n'"), ("SELECT 1 AS m", "'n'"),
            ("SELECT 1.5 AS n", "'n'"),
        ] {
            await #expect { try await store.sql(query, as: Count.self).read() } throws: { error in
                let error = error as? StoreError
                return error?.code == .invalidItem && error?.message.contains(name) == true
                    && error?.message.contains("secret") == false
            }
        }
        await store.close()
        _ = folder
    }

    @Test("bind values, whatever they hold")
    func values() async throws {
        let (folder, store) = try await Self.filledStore()
        let texts = ["'; DROP TABLE Invoice; --", "\"", "a\0b", "", "?1", "\\", "é🦋", ") OR 1=1"]
        for text in texts {
            let rows = try await store.sql("SELECT \(text) AS t, length(\(text)) AS n").read()
            #expect(rows.first?["t"] == .string(text))
        }
        let rows =
            try await store.sql(
                """
                SELECT \(1) AS a, \(2.5) AS b, \(true) AS c, \(nil as String?) AS d, \(Data([7])) AS e,
                    \(FieldValue.bytes([])) AS f,
                    \(Date(timeIntervalSince1970: 2)) AS g, \(Decimal(3)) AS h, \(UUID()) IS NOT NULL AS i
                """
            )
            .read()
        #expect(rows.first?.values == [1, 2.5, 1, .null, .bytes([7]), .bytes([]), 2_000, "3", 1])
        let columns = try await store.sql("SELECT i.\(column: "amount") FROM \(table: "Invoice") i WHERE i.id = 'i3'")
            .read()
        #expect(columns == [SQLRow(names: ["amount"], values: [DecimalText("9.0").map(FieldValue.decimal) ?? .null])])
        await store.close()
        _ = folder
    }

    @Test("see the declared columns only, also with a *")
    func hidden() async throws {
        let folder = try TestFolder()
        let old = TableDefinition("T", columns: [.init("kept", .string), .init("gone", .string)])
        let first = try await EncryptedStore.open(in: folder, [old])
        try await first.upsert([Record(id: "1", ["kept": "a", "gone": "b", "extra": "c"])], table: "T")
        await first.close()
        let new = TableDefinition("T", columns: [.init("kept", .string)], systemProperties: [])
        let store = try await EncryptedStore.open(in: folder, [new])
        #expect(
            try await store.sql("SELECT * FROM T; ").read() == [SQLRow(names: ["id", "kept"], values: ["1", "a"])]
        )
        #expect(try await store.sql("SELECT count(gone) AS n FROM T").read() == [SQLRow(names: ["n"], values: [0])])
        await store.close()
    }

    @Test("are live: two tables that are read, and no commit of another")
    func observation() async throws {
        let (folder, store) = try await Self.filledStore()
        let report = store.sql(
            """
            SELECT c.name, (SELECT count(*) FROM Invoice i WHERE i.customerID = c.id) AS n
            FROM Customer c ORDER BY name
            """
        )
        var rows = report.observe().makeAsyncIterator()
        #expect(try await rows.next()?.map { $0["n"] } == [3, 1])
        try await store.upsert([Record(id: "x", ["key": "k"])], table: SystemTables.configuration.name)
        try await store.upsert([Record(id: "i9", ["customerID": "c2"])], table: "Invoice")
        #expect(try await rows.next()?.map { $0["n"] } == [3, 2])
        try await store.upsert([Record(id: "c2", ["name": "Zoe"])], table: "Customer")
        #expect(try await rows.next()?.map { $0["name"] } == ["Ann", "Zoe"])
        await store.close()
        #expect(try await rows.next() == nil)
        _ = folder
    }

    @Test("tell which tables they read, also those of which no column is")
    func tables() async throws {
        let (folder, store) = try await Self.filledStore()
        for (query, expected) in [
            ("SELECT 1" as SQLQuery, []), ("SELECT count(*) FROM Invoice", ["Invoice"]),
            ("SELECT 1 FROM Customer, Invoice", ["Customer", "Invoice"]),
            ("SELECT customerID FROM Invoice GROUP BY 1", ["Invoice"]),
            ("SELECT EXISTS (SELECT 1 FROM invoice) AS e", ["Invoice"]),
        ] {
            let read = try await store.read { try $0.forEach(query) { _ in } }
            #expect(read == Set(expected), "\(query)")
        }
        await store.close()
        _ = folder
    }

    @Test("end when their task is cancelled, however long they would run, in reads and in writes; the store works on")
    func cancellation() async throws {
        let (folder, store) = try await Self.filledStore()
        let endless: SQLQuery = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        for writes in [false, true] {
            let (begun, hasBegun) = AsyncStream<Void>.makeStream()
            let task = Task {
                if writes {
                    try await store.write { transaction in
                        try transaction.upsert([Record(id: "lost")], into: "Customer")
                        hasBegun.yield()
                        return try transaction.rows(endless)
                    }
                } else {
                    try await store.read { reader in
                        hasBegun.yield()
                        return try reader.rows(endless)
                    }
                }
            }
            for await _ in begun { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(try await store.sql("SELECT count(*) AS n FROM Customer").read().first?["n"] == 2)
        try await store.upsert([Record(id: "c9")], table: "Customer")
        #expect(try await store.sql("SELECT count(*) AS n FROM Customer").read().first?["n"] == 3)
        await store.close()
        _ = folder
    }

    @Test("are unsupported by stores without SQL")
    func unsupported() async throws {
        let store = MemoryStore(try StoreSchema([Self.customers]))
        #expect(!store.capabilities.contains(.sql))
        await #expect { try await store.sql("SELECT 1").read() } throws: { ($0 as? StoreError)?.code == .unsupported }
    }

    static func filledStore() async throws -> (TestFolder, EncryptedStore) {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [customers, invoices])
        func decimal(_ text: String) -> FieldValue { DecimalText(text).map(FieldValue.decimal) ?? .null }
        let rows = [
            Record(
                id: "i1",
                [
                    "customerID": "c1", "status": "sent", "amount": decimal("0.1"), "count": 3, "paid": true,
                    "score": 1.5,
                    "due": .date(Timestamp(milliseconds: 5_000)), "scan": .bytes([1, 2]),
                    "note": JSONText(#"{"a":1}"#).map(FieldValue.json) ?? .null,
                ]
            ),
            Record(
                id: "i2",
                [
                    "customerID": "c1", "status": "sent", "amount": decimal("100000000000000000000.20"),
                    "due": .date(Timestamp(milliseconds: 6_000)),
                ]
            ),
            Record(
                id: "i3",
                [
                    "customerID": "c2", "status": "sent", "amount": decimal("9.0"),
                    "due": .date(Timestamp(milliseconds: 7_000)),
                ]
            ),
            Record(id: "i4", ["customerID": "c1", "status": "draft", "amount": decimal("1")]),
        ]
        try await store.upsert(
            [Record(id: "c1", ["name": "Ann"]), Record(id: "c2", ["name": "Bob"])],
            table: "Customer"
        )
        try await store.upsert(rows, table: "Invoice")
        return (folder, store)
    }
}
