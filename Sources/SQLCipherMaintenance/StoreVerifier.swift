import DurableFiles
import QueryEvaluation
import SQLCipherStore
import SecretMemory
package import SyncContract

/// Looks for damage from the outside in: WAL, pages, structure, tables, rows. What is found in one place keeps nothing
/// from being looked for in another.
final class StoreVerifier {
    private let store: ClosedStore
    private let keyIsVerified: Bool
    private let work: CancellableWork
    private let progress: StoreProgressHandler?
    private var result = StoreVerification()

    /// Locks the store.
    init(
        _ files: StoreFiles,
        _ key: SecretBytes,
        keyIsVerified: Bool,
        _ work: CancellableWork,
        _ progress: StoreProgressHandler?
    ) throws {
        store = try ClosedStore(files, key: key)
        self.keyIsVerified = keyIsVerified
        self.work = work
        self.progress = progress
    }

    func run(_ queueCheck: StoreQueueCheck?) throws -> StoreVerification {
        for log in store.foreignLogs {
            result.add(StoreFinding(.foreignLog, .store, log.message, remedy: log.remedy))
        }
        let wal = store.wal
        if let finding = Self.finding(wal.breakage, wal) { result.add(finding) }
        let pages = try store.pages()
        let scan = PageScan(pages, wal: wal)
        let isReadable = try pages.haveAuthenticOne()
        guard isReadable || keyIsVerified || store.keyIsNamed else {
            throw StoreError.wrongKey(at: store.files.database)
        }
        try checkLength(pages, scan)
        // Every page is looked at, and then read for its rows.
        let bytes = Int64(pages.count * FileHeader.pageSize)
        let meter = ProgressMeter(.verifying, total: 2 * bytes, progress)
        defer { meter.finish() }
        let irrelevant = try scanPages(scan, pages.count, meter)
        // Without one page that can be decrypted there is nothing that the database could say.
        guard isReadable else { return result }
        do {
            try checkStructure(except: irrelevant)
            let (tables, areAll) = try checkTables()
            let rows = try tables.reduce(1) { try $0 + rowCount($1) }
            for layout in tables {
                try scanRows(layout) { done in
                    meter.advance(to: bytes + Int64(Double(bytes) * Double(min(done, rows)) / Double(rows)))
                }
            }
            for layout in tables { try checkSearchIndexes(of: layout) }
            // A table that was reported cannot be read to hold the queue against it.
            if let queueCheck, areAll { try checkQueue(tables, queueCheck) }
        } catch let failure as SQLiteFailure where failure.isDamage {
            // Pages are named already when they are the reason.
            if !hasNamedDamage {
                result.add(StoreFinding(.damagedStructure, .store, "the list of the tables cannot be read"))
            }
        }
        return result
    }

    /// Whether anything is known to be wrong with the database itself, which is then why it cannot be read.
    private var hasNamedDamage: Bool { result.findings.contains { $0.kind != .foreignLog } }

    // MARK: Files

    private func checkLength(_ pages: StoredPages, _ scan: PageScan) throws {
        // With a WAL, the file may lack pages that are in there, and have ones that are no longer in use.
        guard store.wal.committedFrames == 0, let size = FileSystem.size(of: store.files.database) else { return }
        let isWhole = try scan.statedPageCount().map { $0 == pages.count } ?? true
        guard !isWhole || size != pages.count * FileHeader.pageSize else { return }
        result.add(
            StoreFinding(.damagedFile, .store, "the database file has lost its end, or has grown from outside")
        )
    }

    private static func finding(_ breakage: WALScan.Breakage?, _ wal: WALScan) -> StoreFinding? {
        guard let breakage else { return nil }
        let remedy =
            "commits that the WAL no longer gives may be lost; open the store to go on with what there is, or"
            + " restore a backup that is newer"
        guard let frame = breakage.frame else {
            return StoreFinding(
                .damagedWAL,
                .store,
                "the head of the WAL is damaged: the commits since it was last written back are lost",
                remedy: remedy
            )
        }
        let before = "\(wal.commits) \(wal.commits == 1 ? "commit" : "commits") before it can be read"
        return StoreFinding(
            .damagedWAL,
            .walFrame(frame),
            breakage.isLastFrame
                ? "the last commit in the WAL, in frame \(frame), is damaged, or was cut off when its process ended;"
                    + " \(before)"
                : "the WAL breaks off at frame \(frame): the commits behind it are lost; \(before)",
            remedy: remedy
        )
    }

    // MARK: Pages

    private func scanPages(_ scan: PageScan, _ count: Int, _ meter: ProgressMeter) throws -> Set<Int> {
        result.pages = count
        return try scan.run(
            { page in
                try work.checkCancellation()
                meter.advance(to: Int64(page * FileHeader.pageSize))
            },
            { result.add($0) }
        )
    }

    // MARK: Structure

    /// The library's own checks. They end at the first page that the cipher refuses, which was named then.
    private func checkStructure(except irrelevant: Set<Int>) throws {
        let named = Set(result.findings.map(\.place))
        // The library looks at the database file alone, and at pages that hold nothing too.
        for page in try pagesTheCipherRefuses() where !named.contains(.page(page)) && !irrelevant.contains(page) {
            result.add(StoreFinding(.damagedPage, .page(page), "the library refuses page \(page)"))
        }
        do {
            for message in try texts("PRAGMA integrity_check(100)") where message != "ok" {
                result.add(StoreFinding(.damagedStructure, .store, Self.oneLine(message)))
            }
        } catch let failure as SQLiteFailure where failure.isDamage && hasNamedDamage {
            // A page that was named.
        }
    }

    /// What SQLCipher's own check of the pages says, from 4.2 on: texts that end with the number of the page.
    private func pagesTheCipherRefuses() throws -> [Int] {
        guard store.engine.majorCipherVersion >= 4 else { return [] }
        return try texts("PRAGMA cipher_integrity_check")
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
    }

    private func texts(_ sql: String) throws -> [String] {
        try openDatabase()
            .withStatement(sql) { row in
                var texts: [String] = []
                while try row.step() { texts.append(row.text(0)) }
                return texts
            }
    }

    /// SQLite heads its list with the name of the database.
    private static func oneLine(_ message: String) -> String {
        message.split(separator: "\n").filter { !$0.hasPrefix("*** in database") }.joined(separator: "; ")
    }

    // MARK: Tables and rows

    private func openDatabase() throws -> Database {
        let database = try store.openDatabase()
        database.end(with: work)
        return database
    }

    /// The tables that are as they are remembered, and whether these are all there should be.
    private func checkTables() throws -> ([TableLayout], areAll: Bool) {
        let database = try openDatabase()
        try RememberedTables.checkLayout(of: database, store.files.database)
        let remembered: RememberedTables
        do {
            remembered = try RememberedTables(database)
        } catch is StoreError {
            result.add(Self.unintelligibleTables)
            return ([], false)
        }
        var areAll = true
        let tables = try TableCheck(database: database)
            .soundTables(remembered) {
                areAll = false
                result.add($0)
            }
        return (tables, areAll)
    }

    /// How many rows a table has, for the progress; 0 when it cannot be told.
    private func rowCount(_ layout: TableLayout) throws -> Int64 {
        do {
            return try openDatabase().int64("SELECT COUNT(*) FROM \(layout.sqlName)") ?? 0
        } catch let failure as SQLiteFailure where failure.isDamage {
            return 0
        }
    }

    private func scanRows(_ layout: TableLayout, _ progress: (Int64) -> Void) throws {
        try RowScan(layout: layout, open: openDatabase)
            .run(
                {
                    try work.checkCancellation()
                    result.rows += 1
                    progress(Int64(result.rows))
                },
                { result.add($0) }
            )
    }

    private func checkSearchIndexes(of layout: TableLayout) throws {
        let database = try openDatabase()
        for index in try StoredSchema(database).searchIndexes.sorted(by: { $0.column < $1.column })
        where index.table == layout.definition.name && index.version == TextFolding.version {
            // One that an older version made is made anew by the next opening.
            let check = SearchIndexCheck(index: index, database: database)
            do {
                if let finding = try check.finding(work.checkCancellation) { result.add(finding) }
            } catch let failure as SQLiteFailure where failure.isDamage && hasNamedDamage {
                // Rows or pages that were named.
            }
        }
    }

    private func checkQueue(_ tables: [TableLayout], _ check: StoreQueueCheck) throws {
        let database = try openDatabase()
        let schema: StoreSchema
        do {
            schema = try RememberedTables(database, of: store.files.database).schema()
        } catch is StoreError {
            return result.add(Self.unintelligibleTables)
        }
        do {
            for finding in try database.withReader(of: tables, { try check(&$0, schema) }) { result.add(finding) }
        } catch let error as StoreError where Self.isDamage(error) && hasNamedDamage {
            // Rows or pages that were named.
        }
    }
}

extension StoreVerifier {
    /// What cannot be understood may be text of any row, and is not quoted.
    private static var unintelligibleTables: StoreFinding {
        StoreFinding(
            .damagedStructure,
            .store,
            "what the store remembers of its tables cannot be understood: pages come from another state or place, or a newer"
                + " version wrote it",
            remedy:
                "verify with the newest version that has opened the store; if it says the same, \(StoreFinding.restoring)"
        )
    }

    private static func isDamage(_ error: StoreError) -> Bool {
        error.code == .damaged || (error.cause as? SQLiteFailure)?.isDamage == true
    }
}

/// What a module that knows the queue of changes has to say about it, given the tables of the app.
package typealias StoreQueueCheck = @Sendable (inout StoreReader, StoreSchema) throws -> [StoreFinding]
