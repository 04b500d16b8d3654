/// A body in chunks while it arrives (RFC 9112 7.1). Extensions and the fields after the body are read over.
struct ChunkedBody {
    private enum State {
        case size
        case data(missing: Int)
        case endOfData
        case trailer(room: Int)
    }

    /// A chunk's size and its extensions. Nobody sends long ones, but for the sake of a small body's many bytes.
    private static let sizeLineLimit = 256

    private var state = State.size
    private let limits: RequestLimits
    /// What has arrived, without what chunks add to it.
    private(set) var bytes: [UInt8] = []

    init(_ limits: RequestLimits) {
        self.limits = limits
    }

    /// Takes what is there; true when the body is whole.
    mutating func read(from buffer: inout MessageBuffer) throws(RequestRefusal) -> Bool {
        while true {
            switch state {
            case .size:
                guard let size = try Self.size(from: &buffer) else { return false }
                guard size <= limits.body - bytes.count else { throw .bodyTooLarge }
                state = size == 0 ? .trailer(room: limits.fields) : .data(missing: size)
            case .data(let missing):
                let data = buffer.take(atMost: missing)
                bytes.append(contentsOf: data)
                guard data.count == missing else {
                    state = .data(missing: missing - data.count)
                    return false
                }
                state = .endOfData
            case .endOfData:
                // Two bytes are enough to tell, and the only line that they can be is an empty one.
                let tooLong = RequestRefusal.malformed("a chunk is longer than its size")
                guard try Self.line(of: &buffer, limit: 2, else: tooLong) != nil else { return false }
                state = .size
            case .trailer(let room):
                guard let line = try Self.line(of: &buffer, limit: room, else: .fieldsTooLarge) else { return false }
                if line.isEmpty { return true }
                _ = try FieldLine.parse(line)
                state = .trailer(room: room - line.count - 2)
            }
        }
    }

    private static func size(from buffer: inout MessageBuffer) throws(RequestRefusal) -> Int? {
        let tooLong = RequestRefusal.malformed("the size of a chunk is too long")
        guard let line = try line(of: &buffer, limit: sizeLineLimit, else: tooLong) else { return nil }
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        guard let size = ByteClasses.number(digits, radix: 16), line.allSatisfy(ByteClasses.isFieldContent) else {
            throw .malformed("the size of a chunk is not a hexadecimal number")
        }
        return size
    }

    private static func line(
        of buffer: inout MessageBuffer,
        limit: Int,
        else refusal: RequestRefusal
    ) throws(RequestRefusal) -> ArraySlice<UInt8>? {
        do {
            return try buffer.line(limit: limit)
        } catch .tooLong {
            throw refusal
        } catch {
            throw .malformed("a line of a chunked body ends with a line feed alone")
        }
    }
}
