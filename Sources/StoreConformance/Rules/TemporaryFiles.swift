internal import ConformanceRunner
internal import Foundation
internal import Synchronization
internal import SyncContract

extension StoreRules {
    static let temporaryFiles: [StoreRule] = [
        rule(
            "encryption.temporary-files-not-in-clear",
            "Nothing the store writes to disk can be read without its key",
            in: "StoreCapabilities",
            "Writes 4 MB, orders them without an index, overwrites and deletes them, and sorts them in SQL, if the store answers it."
                + " Looks meanwhile for what was written in every file that this process has open, those without a name"
                + " included. On Linux.",
            needs: "encrypted"
        ) { trial in
            #if os(Linux)
            let store = try await trial.makeStore()
            // Chance of its own each time: other tests of this process have their files open, too, and only those of this one
            // have it. A file that was open before proves nothing by its number: a new one may get that.
            let marker = UUID().uuidString
            let rows = (0..<200)
                .map { number in
                    let text = "\((number * 77) % 200) " + String(repeating: marker + " ", count: 540)
                    return Record(id: .string("\(number)"), ["text": .string(text)])
                }
            let look: @Sendable (String) throws -> Void = { when in
                for file in try OpenFile.all() where file.contains(marker) {
                    trial.report(
                        "look into the open files \(when)",
                        expected: "nothing of what was written",
                        got: "a text, in a file of \(file.count) bytes"
                    )
                }
            }
            try await store.upsert(rows, table: "items")
            try await store.read { reader in
                var isFirst = true
                try reader.forEach(Query("items").ordered(by: "text")) { _ in
                    if isFirst { try look("while rows are walked in the order of a text") }
                    isFirst = false
                }
            }
            do {
                try await store.write { transaction in
                    let merged = rows.map { Record(id: $0.id, ["text": "x", "version": $0["text"] ?? .null]) }
                    try transaction.upsert(merged, into: "items")
                    try look("while all rows are overwritten")
                    _ = try transaction.delete(Query("items").filtered(by: Column("text") == "x"))
                    try look("while all rows are deleted")
                    throw OwnError(number: 1)
                }
            } catch is OwnError {
                // The rows come back.
            }
            guard store.capabilities.contains(.sql) else { return }
            try await store.read { reader in
                var count = 0
                _ = try reader.forEach("SELECT DISTINCT text FROM items") { _ in
                    count += 1
                    if count == rows.count { try look("at the last of the texts that a statement keeps apart") }
                }
            }
            #else
            throw Unsupported("the open files of a process are not looked up here")
            #endif
        }
    ]
}

#if os(Linux)
/// A file that this process has open, whoever opened it.
private struct OpenFile {
    let count: Int
    private let descriptor: Int32

    static func all() throws -> [OpenFile] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            .compactMap { Int32($0).flatMap(OpenFile.init) }
    }

    /// Nil for what is no file, and for one that was closed meanwhile.
    private init?(_ descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        count = Int(status.st_size)
        self.descriptor = descriptor
    }

    /// Whether a text stands in the file. It is read as it is open: closing a descriptor of one's own would lift the locks that
    /// this process has on the file.
    func contains(_ text: String) -> Bool {
        let text = Array(text.utf8)
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        var place = 0
        while true {
            let size = chunk.count
            let got = unsafe chunk.withUnsafeMutableBytes {
                unsafe pread(descriptor, $0.baseAddress, size, off_t(place))
            }
            guard got >= text.count else { return false }
            if Self.isThere(text, in: chunk, upTo: got) { return true }
            // A text may stand across the end.
            place += got - text.count + 1
        }
    }

    private static func isThere(_ text: [UInt8], in chunk: [UInt8], upTo end: Int) -> Bool {
        unsafe chunk.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            var start = 0
            while start + text.count <= end,
                let hit = unsafe memchr(base + start, Int32(text[0]), end - text.count - start + 1)
            {
                if unsafe memcmp(hit, text, text.count) == 0 { return true }
                start = unsafe UnsafeRawPointer(hit) - base + 1
            }
            return false
        }
    }
}
#endif
