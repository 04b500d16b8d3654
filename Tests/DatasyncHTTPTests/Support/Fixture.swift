import Foundation

/// An answer of the genuine Node server, as it was recorded.
enum Fixture {
    /// The bytes of an answer: the head with the line ends of HTTP, the body as long as the head says.
    static func named(_ name: String) throws -> [UInt8] {
        let url = Bundle.module.bundleURL.appendingPathComponent("Fixtures/\(name).http")
        let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
        let parts = text.split(separator: "\n\n", maxSplits: 1)
        let head = parts[0].split(separator: "\n")
        let length = head.compactMap { $0.hasPrefix("Content-Length: ") ? Int($0.dropFirst(16)) : nil }[0]
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + parts[1].utf8.prefix(length)
    }
}
