/// The files of a store, all in one folder.
struct StoreFiles: Sendable {
    /// The database.
    let database: String

    /// The folder.
    var folder: String {
        guard let slash = database.lastIndex(of: "/") else { return "." }
        return slash == database.startIndex ? "/" : String(database[..<slash])
    }

    /// SQLite's log of what is not in the database yet.
    var log: String { database + "-wal" }

    /// SQLite's rollback journal, which this store never leaves behind.
    var journal: String { database + "-journal" }

    /// The lock.
    var lock: String { database + ".lock" }

    /// A new database until it is complete.
    var unfinished: String { database + ".new" }

    /// What a creation that was killed can leave behind.
    var leftovers: [String] { ["", "-journal", "-wal", "-shm"].map { unfinished + $0 } }

    /// The files of the store at a path, with symbolic links followed, so that one store has one lock.
    init(_ path: String) {
        if let resolved = FileSystem.resolved(path) {
            database = resolved
        } else {
            let slash = path.lastIndex(of: "/")
            let folder = slash.map { path[...$0].isEmpty ? "/" : String(path[...$0]) } ?? "."
            let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
            let resolvedFolder = FileSystem.resolved(folder) ?? folder
            database = resolvedFolder + (resolvedFolder.hasSuffix("/") ? "" : "/") + name
        }
    }
}
