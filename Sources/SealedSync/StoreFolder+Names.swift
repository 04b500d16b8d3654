internal import Foundation
internal import OfflineSync

extension StoreFolder {
    /// The folder of an app's store, by name, in the place where the platform keeps the data of apps, out of sight and
    /// in backups; one for each user of the app, when users are named. Nothing is read or created: the first opening
    /// makes the folder, with those around it, for the owner alone (mode 0700).
    ///
    /// The place is `Application Support` on Apple platforms. Elsewhere it is `$XDG_DATA_HOME`, or `~/.local/share`
    /// where that is not set or is not an absolute path. It belongs to one app in a sandbox only; without one, take a
    /// name that no other app has, such as `org.example.todos`.
    ///
    /// The folder is `NAME`, and that of a user `NAME/users/USER`. A file system that ignores case takes `Kate` and
    /// `kate` for one.
    ///
    /// - Parameters:
    ///   - name: The name of the store: 1 to 255 bytes of UTF-8 without slashes, backslashes and control characters,
    ///     and not `.` or `..`.
    ///   - user: Whose store it is, such as a user id of the service; likewise. Nil for an app without users.
    /// - Returns: The folder, which need not be there.
    /// - Throws: `SyncError` with code `invalidParameter` for a name that is a path, or none.
    public static func named(_ name: String, user: String? = nil) throws -> StoreFolder {
        try named(name, user: user, below: dataPlace(ProcessInfo.processInfo.environment))
    }

    static func named(_ name: String, user: String?, below place: URL) throws -> StoreFolder {
        var url = place.appending(component: try checked(name), directoryHint: .isDirectory)
        if let user {
            url.append(component: "users", directoryHint: .isDirectory)
            url.append(component: try checked(user), directoryHint: .isDirectory)
        }
        return StoreFolder(url)
    }

    /// Where the platform keeps the data of apps.
    static func dataPlace(_ environment: [String: String]) -> URL {
        #if canImport(Darwin)
        return .applicationSupportDirectory
        #else
        // The XDG Base Directory Specification: a relative path is to be ignored.
        if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") {
            return URL(filePath: path, directoryHint: .isDirectory)
        }
        return FileManager.default.homeDirectoryForCurrentUser
            .appending(path: ".local/share", directoryHint: .isDirectory)
        #endif
    }

    private static func checked(_ name: String) throws -> String {
        let isPath = name.isEmpty || name == "." || name == ".." || name.utf8.count > 255
        let isUnfit = name.unicodeScalars.contains {
            $0 == "/" || $0 == "\\" || $0.properties.generalCategory == .control
        }
        guard !isPath, !isUnfit else {
            throw SyncError(
                .invalidParameter,
                "The name of a store or user has 1 to 255 bytes without slashes, backslashes and control characters, and is"
                    + " not '.' or '..'; for a folder elsewhere use StoreFolder(url)."
            )
        }
        return name
    }
}
