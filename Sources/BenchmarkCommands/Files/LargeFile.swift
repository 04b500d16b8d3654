internal import Foundation

/// A file whose bytes tell where they are.
enum LargeFile {
    static func make(at url: URL, megabytes: Int) throws {
        guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
            throw BenchmarkFailure("'\(url.path)' cannot be made")
        }
        let file = try FileHandle(forWritingTo: url)
        for number in 0..<megabytes { try file.write(contentsOf: megabyte(number)) }
        try file.close()
    }

    private static func megabyte(_ number: Int) -> Data {
        var words = [UInt64](repeating: 0, count: 1 << 17)
        for index in words.indices {
            words[index] = UInt64(number << 17 + index) &* 0x9E37_79B9_7F4A_7C15
        }
        return unsafe words.withUnsafeBytes { unsafe Data($0) }
    }
}
