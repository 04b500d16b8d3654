package import DurableFiles
package import Foundation
package import SyncContract

/// The files of a store, all in one folder.
package struct StoreFiles: Sendable {
    /// The database.
    package let database: String

    /// What changes the files, except SQLite.
    package let fileSystem: FileSystem

    /// The folder.
    package var folder: String { FileSystem.folder(of: database) }

    /// SQLite's WAL of what is not in the database yet.
    package var wal: String { database + "-wal" }

    /// The index of the WAL, which the connections of a process share.
    package var index: String { database + "-shm" }

    /// SQLite's rollback journal. The first page is written through one when the WAL's mode is entered, on the first opening,
    /// and left, before a rewrite: a kill leaves it behind then.
    package var journal: String { database + "-journal" }

    /// The lock.
    var lock: String { database + ".lock" }

    /// A new database until it is complete.
    package var temporary: String { database + ".new" }

    /// What a creation or a rewrite that was killed can leave behind.
    package var leftovers: [String] { ["", "-journal", "-wal", "-shm"].map { temporary + $0 } }

    /// Every file a store can have, in the order in which they are removed: the lock goes last.
    package var all: [String] { [database, wal, index, journal] + leftovers + [lock] }

    /// The files of the store at a path, with symbolic links on the way to their folder followed, so that one store has one
    /// lock. The files themselves may not be links: see ``refuseLinks()``.
    package init(_ path: String, in fileSystem: FileSystem = FileSystem()) {
        self.fileSystem = fileSystem
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { path[...$0].isEmpty ? "/" : String(path[...$0]) } ?? "."
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        let resolvedFolder = FileSystem.resolved(folder) ?? folder
        database = resolvedFolder + (resolvedFolder.hasSuffix("/") ? "" : "/") + name
    }

    /// Throws when a file of the store is a symbolic link: whoever has put it there has what is meant for the store written,
    /// or cut to nothing, in a place of their choice.
    package func refuseLinks() throws(StoreError) {
        guard let link = [database, wal, index, journal, lock].first(where: FileSystem.isLink) else { return }
        throw StoreError(
            .readOnly,
            "'\(link)' is a symbolic link, and none is followed; put the file itself there, or open the store where it lies."
        )
    }
}

extension StoreFiles {
    /// The database as SQLite opens it when nobody writes to it: the file alone, without locks and without its WAL.
    package var immutableURI: String { Self.uri(database, "immutable=1") }

    /// A path as SQLite takes it with parameters.
    package static func uri(_ path: String, _ parameters: String) -> String {
        var uri = "file:"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default: uri += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return uri + "?" + parameters
    }
}

extension StoreFiles {
    /// The files of the store at a URL.
    package init(_ url: URL, in fileSystem: FileSystem = FileSystem()) throws(StoreError) {
        guard url.isFileURL else { throw StoreError(.notFound, "A store lies in a file; use a file URL.") }
        self.init(url.path, in: fileSystem)
    }

    /// Deletes what a creation or a rewrite that was killed has left. The caller holds the lock.
    package func removeLeftovers() throws { try remove(leftovers) }

    /// The same but for the new database itself, which is the caller's.
    package func removeLeftoversBesideNew() throws { try remove(leftovers.filter { $0 != temporary }) }

    private func remove(_ paths: [String]) throws {
        // Looking first: in a folder that cannot be written, deleting what is not there fails as well.
        for path in paths where FileSystem.exists(path) || FileSystem.isLink(path) { try fileSystem.remove(path) }
    }

    /// Throws when a WAL or a journal lies where a new database is about to come: it would be played into that.
    package func refuseOrphanedWAL() throws(StoreError) {
        guard [wal, journal].allSatisfy({ FileSystem.size(of: $0) ?? 0 == 0 }) else {
            throw StoreError(
                .damaged,
                "The database '\(database)' is missing but its WAL is there; put back the database that lay beside it. A backup"
                    + " is put into an empty folder: move everything away first, the '-wal' file included, or delete the"
                    + " files that begin with the name of the database if the data is not wanted."
            )
        }
    }
}
