@_exported public import ConformanceRunner
internal import Foundation
public import SyncContract

/// How the kit gets at a store: the three functions that its author writes, and more for what some stores offer.
///
/// What a store can do is read from ``/SyncContract/SyncContextDataSource/capabilities`` of the stores that are made. A
/// function that is not written makes the rules that need it not applicable, with that reason; but a store that
/// declares a capability which cannot be checked without the function breaks those rules.
public protocol StoreHarness: Sendable {
    /// The type of the store.
    associatedtype Store: SyncContextDataSource

    /// What reports call the store.
    var name: String { get }

    /// Makes an empty store with the given tables. Stores made at different places have nothing in common.
    func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> Store

    /// Opens the store that was made at this place and closed, or left by a process that was killed.
    ///
    /// The schema may differ from the one before. What the store throws must be thrown on as it is.
    func reopenStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> Store

    /// The same with what brings waiting changes along in a migration.
    func reopenStore(
        _ schema: StoreSchema,
        translating translation: any QueueTranslation,
        at place: StoreLocation
    ) async throws -> Store

    /// Closes a store. It is not used any more, except to see that it refuses that.
    func closeStore(_ store: Store) async throws

    /// Re-encrypts the closed store at the place, from the key that the place has to another one.
    func changeKey(ofStoreAt place: StoreLocation, to key: StoreLocation.Key) async throws

    /// Locks a store that can be locked: afterwards its key is not in memory.
    func lockStore(_ store: Store) async throws

    /// Unlocks a store that was locked, with the place's key.
    func unlockStore(_ store: Store, at place: StoreLocation) async throws

    /// The files that the store keeps, by path: by default, all in the place's folder and below.
    func files(ofStoreAt place: StoreLocation) async throws -> [String: [UInt8]]
}

/// Where a store lies. Stores in memory have no use for it.
public struct StoreLocation: Sendable, Hashable {
    /// Which of two keys to open an encrypted store with. Which bytes they are is up to the harness.
    public enum Key: Sendable, Hashable {
        /// The key that the store is made with.
        case first
        /// Another key.
        case second
    }

    /// A folder of the store's own. It exists, and is empty before the store is made.
    public let folder: String

    /// The key to use.
    public var key = Key.first

    init(folder: String) { self.folder = folder }

    /// This place with another key.
    public func opened(with key: Key) -> StoreLocation {
        var place = self
        place.key = key
        return place
    }
}

extension StoreHarness {
    /// Not offered.
    public func reopenStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> Store {
        throw Unsupported("the harness has no function 'reopenStore'")
    }

    /// Not offered.
    public func reopenStore(
        _ schema: StoreSchema,
        translating translation: any QueueTranslation,
        at place: StoreLocation
    ) async throws -> Store {
        throw Unsupported("the harness has no function 'reopenStore' with a translation")
    }

    /// Not offered.
    public func closeStore(_ store: Store) async throws {
        throw Unsupported("the harness has no function 'closeStore'")
    }

    /// Not offered.
    public func changeKey(ofStoreAt place: StoreLocation, to key: StoreLocation.Key) async throws {
        throw Unsupported("the harness has no function 'changeKey'")
    }

    /// Not offered.
    public func lockStore(_ store: Store) async throws {
        throw Unsupported("the harness has no function 'lockStore'")
    }

    /// Not offered.
    public func unlockStore(_ store: Store, at place: StoreLocation) async throws {
        throw Unsupported("the harness has no function 'unlockStore'")
    }

    /// All files in the place's folder and below.
    public func files(ofStoreAt place: StoreLocation) async throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        let folder = URL(fileURLWithPath: place.folder)
        for path in try FileManager.default.subpathsOfDirectory(atPath: place.folder) {
            let url = folder.appendingPathComponent(path)
            var isFolder: ObjCBool = false
            // A file may go between the listing and here: a WAL that a store removes.
            guard unsafe FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), !isFolder.boolValue
            else { continue }
            files[path] = Array(try Data(contentsOf: url))
        }
        return files
    }
}
