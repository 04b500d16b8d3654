import CSQLCipher
import DurableFiles
import SQLCipherStore
import SyncContract

/// Copies the content of a connection's first database into an empty file, page size and encryption apart: tables,
/// indexes, rows with their numbers, in the order of tables and indexes, so that the new file has no gaps.
struct DatabaseCopy {
    /// The connection. It is opened with permission to write, which the new file inherits, whatever the first database
    /// allows.
    let source: Database
    /// The size of what is to be copied, for the progress.
    let size: Int64
    let work: CancellableWork
    let progress: StoreProgressHandler?
    var mark: StoreMark?

    private static let target = "target"

    /// Copies the state of one instant into the empty file at a path, encrypted as given or, for nil, plain, and says
    /// what is there then.
    func run(to path: String, _ cipherConfiguration: CipherConfiguration?) throws -> DatabaseContent {
        if let cipherConfiguration {
            try cipherConfiguration.attach(path, as: Self.target, to: source)
        } else {
            try source.attach(path, as: Self.target)
        }
        let target = Self.target
        // Nothing has to be rolled back on disk: an unfinished file is thrown away.
        _ = try source.text("PRAGMA \(target).journal_mode = MEMORY")
        _ = try source.text("PRAGMA \(target).synchronous = OFF")
        // In their order, rows and index entries need no page again that is full.
        _ = try source.text("PRAGMA \(target).cache_size = -1024")
        let watch = CopyWatch(path, work, ProgressMeter(.copying, total: size, progress))
        source.report(to: watch)
        defer {
            source.reportNothing()
            watch.meter.finish()
        }
        return try source.transaction(.reading) {
            let whole = try DatabaseContent(source)
            let content = cipherConfiguration == nil ? whole.plain : whole.current
            try refuseOthers(content.entries)
            _ = try source.text("PRAGMA \(target).user_version = \(content.layoutVersion)")
            // The indexes come before the rows: SQLite then fills them in their order, and sorts nothing in memory.
            for type in ["table", "index"] {
                for entry in content.entries where entry.type == type { try create(entry) }
            }
            for (name, count) in content.rowCounts.sorted(by: { $0.key < $1.key }) where count > 0 {
                let table = name.sqlIdentifier
                // This very form is the one that SQLite copies record by record, with their numbers.
                try source.run("INSERT INTO \(target).\(table) SELECT * FROM main.\(table)")
            }
            if let mark, mark.isDue(in: content) {
                try source.run(
                    "UPDATE \(target).\(mark.table.name.sqlIdentifier) SET \(mark.column.sqlIdentifier) = 1"
                )
            }
            // The triggers come after them: what they would write is there already.
            for entry in content.entries where entry.type == "trigger" { try create(entry) }
            return content
        }
    }

    /// SQLite keeps the SQL of each in one form, from its name on as it was written.
    private func create(_ entry: DatabaseContent.Entry) throws {
        guard let start = Self.start(of: entry) else { return try refuseOthers([entry]) }
        try source.run("\(start)\(Self.target).\(entry.sql.dropFirst(start.count))")
    }

    private static func start(of entry: DatabaseContent.Entry) -> String? {
        ["CREATE TABLE ", "CREATE INDEX ", "CREATE UNIQUE INDEX ", "CREATE TRIGGER "].first { entry.sql.hasPrefix($0) }
    }

    private func refuseOthers(_ entries: [DatabaseContent.Entry]) throws {
        for entry in entries {
            let isOurs = entry.type != "trigger" || SearchIndex.makes(trigger: entry.name, sql: entry.sql)
            guard Self.start(of: entry) == nil || !isOurs else { continue }
            throw StoreError(
                .unsupportedFormat,
                "'\(entry.name)' is a \(entry.type == "table" ? "virtual table" : entry.type), which this version does not"
                    + " copy; use a newer version, or remove it if another program put it there"
            )
        }
    }
}

/// Looks in on a copy that is under way.
private final class CopyWatch {
    let path: String
    let work: CancellableWork
    let meter: ProgressMeter

    init(_ path: String, _ work: CancellableWork, _ meter: ProgressMeter) {
        self.path = path
        self.work = work
        self.meter = meter
    }

    /// Whether the copy should end.
    func look() -> Bool {
        // What does not fit into the cache is in the file already.
        meter.advance(to: Int64(FileSystem.size(of: path) ?? 0))
        return work.isCancelled
    }
}

extension Database {
    /// Lets an object look in on every statement now and then. It must outlive the connection, or be let go before.
    fileprivate func report(to watch: CopyWatch) {
        unsafe sqlite3_progress_handler(
            pointer,
            1_000,
            { watch in
                guard let watch = unsafe watch else { return 0 }
                return unsafe Unmanaged<CopyWatch>.fromOpaque(watch).takeUnretainedValue().look() ? 1 : 0
            },
            Unmanaged.passUnretained(watch).toOpaque()
        )
    }

    fileprivate func reportNothing() { unsafe sqlite3_progress_handler(pointer, 0, nil, nil) }
}

extension StoreMark {
    /// Whether a store has the table, with its columns.
    fileprivate func isDue(in content: DatabaseContent) -> Bool {
        content.entries.contains { entry in
            entry.type == "table" && entry.name == table.name
                && table.columns.allSatisfy { entry.sql.contains($0.name.sqlIdentifier) }
        }
    }
}
