internal import OfflineSync
internal import RemoteContract
internal import SecretMemory
package import SyncContract

/// What the store knows of the files: one row for each.
package enum AttachmentFiles {
    package static let table = TableDefinition(
        AttachmentMarks.table,
        columns: [
            // The name in the folder: random, so that it says nothing of the rows, and another one when the key is.
            .init("file", .string), .init("key", .bytes),
            // Whether somebody who was shut out since may know the key.
            .init(exposure, .bool),
            // Null as long as nobody has said it.
            .init("length", .int64), .init("digest", .bytes),
            .init(AttachmentMarks.isHere, .bool), .init(AttachmentMarks.isOnServer, .bool), .init("isWanted", .bool),
            .init(AttachmentMarks.isDue, .bool),
            // Why it is not tried again by itself.
            .init("failure", .string),
            .init("lastUsed", .date), .init("unusedSince", .date),
            // What the server has said of the version that arrives; when it is fetched without being asked for.
            .init("tag", .string), .init("aheadFrom", .date),
        ],
        indexes: [["isOnServer", "isHere"], ["isWanted"], ["isHere", "aheadFrom"], [exposure]],
        isLocalOnly: true
    )

    /// The column that a revocation sets in every row of the database that it encrypts anew: the keys in them could be read
    /// with the database's old key. It is taken back file by file, each with a new key.
    package static let exposure = "isExposed"
}

/// One row of them.
struct AttachmentFile: Sendable {
    let id: AttachmentID
    /// The name in the folder.
    var name: String
    var key: SecretBytes
    /// Whether somebody who was shut out since may know the key.
    var isExposed = false
    /// How long the content is, in bytes; nil as long as nobody has said it.
    var length: Int64?
    /// The server's tag of the version of which some has arrived; nil where it has none.
    var tag: String?
    /// The SHA-256 of the content; nil until it was here.
    var digest: [UInt8]?
    /// Whether the whole content is here.
    var isHere = false
    /// Whether the server has the whole content, as far as is known.
    var isOnServer = false
    /// Whether it is to be sent although no row names it here: the server has taken one that did.
    var isDue = false
    /// Whether it is to be fetched.
    var isWanted = false
    /// Why it is not tried again by itself.
    var failure: String?
    /// When it was added, fetched or read last; when it was heard of first, of one that is fetched because of a rule.
    var lastUsed: Timestamp
    /// Since when no row names it.
    var unusedSince: Timestamp?
    /// For a file that is fetched, or was, because of a rule alone: when it may be tried next. Nil as soon as somebody uses it.
    var aheadFrom: Timestamp?

    init(_ id: AttachmentID, name: String, key: SecretBytes, lastUsed: Timestamp) {
        (self.id, self.name, self.key, self.lastUsed) = (id, name, key, lastUsed)
    }

    /// - Throws: `StoreError` with code `damaged` for a row that nothing here has written.
    init(_ record: Record) throws {
        guard let id = record.id.stringValue.flatMap(AttachmentID.init), let name = record["file"]?.stringValue,
            Self.isName(name), let key = record["key"]?.bytesValue, key.count == ChunkCipher.keyCount
        else {
            throw StoreError(
                .damaged,
                "A row of '\(AttachmentFiles.table.name)' is not one of an attachment; restore the store from a backup."
            )
        }
        let secret = unsafe try SecretBytes(count: key.count) { unsafe $0.copyBytes(from: key) }
        self.init(id, name: name, key: secret, lastUsed: record["lastUsed"]?.dateValue ?? Timestamp(milliseconds: 0))
        isExposed = record[AttachmentFiles.exposure]?.boolValue ?? false
        length = record["length"]?.int64Value
        digest = record["digest"]?.bytesValue
        isHere = record["isHere"]?.boolValue ?? false
        isOnServer = record["isOnServer"]?.boolValue ?? false
        isDue = record[AttachmentMarks.isDue]?.boolValue ?? false
        isWanted = record["isWanted"]?.boolValue ?? false
        failure = record["failure"]?.stringValue
        unusedSince = record["unusedSince"]?.dateValue
        tag = record["tag"]?.stringValue
        aheadFrom = record["aheadFrom"]?.dateValue
    }

    var record: Record {
        Record(
            id: .string(id.text),
            [
                "file": .string(name), "key": .bytes(unsafe key.withUnsafeBytes { unsafe Array($0) }),
                AttachmentFiles.exposure: .bool(isExposed),
                "length": length.map(FieldValue.int64) ?? .null, "digest": digest.map(FieldValue.bytes) ?? .null,
                "isHere": .bool(isHere), "isOnServer": .bool(isOnServer), "isWanted": .bool(isWanted),
                AttachmentMarks.isDue: .bool(isDue),
                "failure": failure.map(FieldValue.string) ?? .null, "lastUsed": .date(lastUsed),
                "unusedSince": unusedSince.map(FieldValue.date) ?? .null,
                "tag": tag.map(FieldValue.string) ?? .null, "aheadFrom": aheadFrom.map(FieldValue.date) ?? .null,
            ]
        )
    }

    /// Takes another name and key, under which nothing is in the folder: what had the name before is for the caller to remove.
    ///
    /// - Returns: The name before.
    mutating func become(_ new: FreshFile) -> String {
        defer { (name, key, isExposed) = (new.name, new.key, false) }
        return name
    }

    /// Names are made by ``AttachmentFolder/newName()``; any other would be a path to somewhere.
    static func isName(_ name: String) -> Bool {
        name.utf8.count == 32 && name.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}

/// A name and a key that nothing has.
struct FreshFile: Sendable {
    let name: String
    let key: SecretBytes

    init() throws { (name, key) = (try AttachmentFolder.newName(), try AttachmentFolder.newKey()) }
}

extension StoreReading where Self: ~Copyable {
    /// The file with a name; nil when there is none.
    mutating func attachment(_ id: AttachmentID) throws -> AttachmentFile? {
        try record(.string(id.text), in: AttachmentFiles.table.name).map(AttachmentFile.init)
    }

    /// The files that satisfy a condition.
    mutating func attachments(_ query: Query) throws -> [AttachmentFile] {
        var files: [AttachmentFile] = []
        try forEach(query) { files.append(try AttachmentFile($0)) }
        return files
    }
}

extension StoreTransaction {
    mutating func save(_ file: AttachmentFile) throws {
        try upsert([file.record], into: AttachmentFiles.table.name)
    }
}
