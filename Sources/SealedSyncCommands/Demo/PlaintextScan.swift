internal import Foundation

/// Searches every byte of every file of a folder for texts that must not be there.
enum PlaintextScan {
    struct Result {
        var files = 0
        var bytes = 0
        /// The texts that were found, with the file.
        var found: [String] = []
    }

    static func search(_ folders: [URL], for texts: [String]) throws -> Result {
        var result = Result()
        // As UTF-8, and as UTF-16 in both byte orders: whatever a library might use inside.
        let patterns = texts.flatMap { text in
            [Data(text.utf8)] + [.utf16LittleEndian, .utf16BigEndian].compactMap { text.data(using: $0) }
        }
        for folder in folders {
            for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
                let content = try Data(contentsOf: file)
                result.files += 1
                result.bytes += content.count
                for pattern in patterns where content.range(of: pattern) != nil {
                    result.found.append(file.lastPathComponent)
                }
            }
        }
        return result
    }
}
