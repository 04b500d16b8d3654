import FlyingSocks
import Foundation

/// Reads whole HTTP/1.1 messages from a blocking socket: a head, and a body whose length the head gives.
struct HTTPMessageReader {
    struct Message {
        let firstLine: String
        let bytes: Data
    }

    private static let maximumHeadSize = 65_536

    private let socket: Socket
    private var buffer = Data()

    init(_ socket: Socket) {
        self.socket = socket
    }

    /// The next message; nil when the peer closed the connection between two messages. An answer needs the first line
    /// of its request, for an answer to HEAD has no body.
    mutating func next(isAnswerTo requestLine: String? = nil) throws -> Message? {
        guard let headEnd = try readHead() else { return nil }
        let head = String(decoding: buffer[..<headEnd], as: UTF8.self)
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)
        let firstLine = lines.first.map(String.init) ?? ""
        let hasBody = requestLine.map { !$0.hasPrefix("HEAD ") } ?? true
        var end = headEnd
        if hasBody, Self.field("transfer-encoding", in: lines)?.lowercased().hasSuffix("chunked") == true {
            end = try readChunks(from: headEnd)
        } else if hasBody, let length = Self.field("content-length", in: lines).flatMap({ Int($0) }) {
            guard (0..<1 << 30).contains(length) else { throw SocketError.disconnected }
            end = headEnd.advanced(by: length)
            try read(upTo: end)
        }
        let bytes = Data(buffer[..<end])
        buffer = Data(buffer[end...])
        return Message(firstLine: firstLine, bytes: bytes)
    }

    private static func field(_ name: String, in lines: [Substring]) -> String? {
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name else { continue }
            return parts[1].trimmingCharacters(in: .whitespaces)
        }
        return nil
    }

    /// The index after the empty line that ends the head.
    private mutating func readHead() throws -> Data.Index? {
        while true {
            if let range = buffer.firstRange(of: Data("\r\n\r\n".utf8)) { return range.upperBound }
            guard buffer.count < Self.maximumHeadSize else { throw SocketError.disconnected }
            do {
                buffer.append(contentsOf: try socket.read(atMost: 4_096))
            } catch SocketError.disconnected where buffer.isEmpty {
                return nil
            }
        }
    }

    /// The index after the last chunk and its trailer.
    private mutating func readChunks(from start: Data.Index) throws -> Data.Index {
        var position = start
        while true {
            let line = try readLine(from: position)
            let digits = String(decoding: buffer[position..<line], as: UTF8.self).prefix { $0.isHexDigit }
            guard let size = Int(digits, radix: 16), size < 1 << 30 else { throw SocketError.disconnected }
            position = line + 2 + size + 2
            try read(upTo: position)
            if size == 0 { return position }
        }
    }

    /// The index of the line break that ends the line beginning at a position.
    private mutating func readLine(from position: Data.Index) throws -> Data.Index {
        while true {
            if let range = buffer[position...].firstRange(of: Data("\r\n".utf8)) { return range.lowerBound }
            buffer.append(contentsOf: try socket.read(atMost: 4_096))
        }
    }

    private mutating func read(upTo end: Data.Index) throws {
        while buffer.endIndex < end {
            buffer.append(contentsOf: try socket.read(atMost: 65_536))
        }
    }
}
