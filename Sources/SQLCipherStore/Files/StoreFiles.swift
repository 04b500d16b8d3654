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

    /// The index of the log, which the connections of a process share.
    var index: String { database + "-shm" }

    /// SQLite's rollback journal, which this store never leaves behind.
    var journal: String { database + "-journal" }

    /// The lock.
    var lock: String { database + ".lock" }

    /// A new database until it is complete.
    var unfinished: String { database + ".new" }

    /// What a creation that was killed can leave behind.
    var leftovers: [String] { ["", "-journal", "-wal", "-shm"].map { unfinished + $0 } }

    /// Every file a store can have, in the order in which they are removed: the lock goes last.
    var all: [String] { [database, log, index, journal] + leftovers + [lock] }

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

extension StoreFiles {
    /// The database as SQLite opens it when nobody writes to it: the file alone, without locks and without its log.
    var immutableURI: String {
        var uri = "file:"
        for byte in database.utf8 {
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default: uri += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return uri + "?immutable=1"
    }
}
