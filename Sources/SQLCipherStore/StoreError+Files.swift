package import SyncContract

/// The errors about the files of a store that more than one way of opening it meets.
extension StoreError {
    package static func wrongKeyLength(_ count: Int) -> StoreError {
        StoreError(.wrongKey, "A key has \(KeyText.keyCount) bytes; this one has \(count).")
    }

    package static func wrongKey(at path: String) -> StoreError {
        StoreError(.wrongKey, "The key does not open the store at '\(path)'; use the key it was created with.")
    }

    package static func damaged(_ path: String, cause: any Error) -> StoreError {
        StoreError(.damaged, "The database '\(path)' is damaged; \(restoring).", cause: cause)
    }

    package static func noStore(at path: String) -> StoreError {
        StoreError(.notFound, "There is no store at '\(path)'; check the path, or create the store.")
    }

    package static func noFolder(_ path: String) -> StoreError {
        StoreError(.notFound, "The folder '\(path)' does not exist; create it first.")
    }

    package static func alreadyExists(at path: String) -> StoreError {
        StoreError(.alreadyExists, "There is a file at '\(path)' already; choose another place, or move it away.")
    }

    package static func needsNewerLibrary(_ path: String, _ engine: EngineVersion) -> StoreError {
        StoreError(
            .unsupportedFormat,
            "The store at '\(path)' was written with a newer SQLCipher than the one linked here (\(engine.cipher)); link"
                + " SQLCipher 4 or later."
        )
    }

    static func unknownLayout(_ version: Int64, _ path: String) -> StoreError {
        StoreError(
            .unsupportedFormat,
            "The tables of '\(path)' have layout \(version), which this version does not know; use a newer version."
        )
    }

    static var unknownColumnType: StoreError {
        StoreError(.unsupportedFormat, "A column has a type that this version does not know; use a newer version.")
    }
}
