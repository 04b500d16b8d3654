/// Bytes that arrived and were not taken yet. It forgets what was taken and remembers how much that was.
struct MessageBuffer {
    /// Why there is no line.
    enum LineFault: Error {
        case tooLong
        /// A line feed without a carriage return before it.
        case bareLineFeed
    }

    private var bytes: [UInt8] = []
    private var position = 0
    /// Up to where no line feed was found, so that a line that comes byte by byte is not searched from its start again.
    private var searched = 0
    /// How many bytes were taken since this was last set to 0.
    var takenCount = 0

    var count: Int { bytes.count - position }

    var first: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func append(_ more: some Collection<UInt8>) {
        if position > 0 {
            bytes.removeFirst(position)
            searched = max(0, searched - position)
            position = 0
        }
        bytes.append(contentsOf: more)
    }

    /// Takes a line without its line break; nil when its end is not there yet.
    ///
    /// The limit is for the line with its line break. It is too long as soon as that many bytes are there without an
    /// end, whatever they are, so that the verdict does not depend on how they arrived.
    mutating func line(limit: Int) throws(LineFault) -> ArraySlice<UInt8>? {
        let end = min(bytes.count, position + limit)
        guard let lineFeed = bytes[max(position, min(searched, end))..<end].firstIndex(of: ByteClasses.lineFeed) else {
            searched = end
            if end == position + limit { throw .tooLong }
            return nil
        }
        guard lineFeed > position, bytes[lineFeed - 1] == ByteClasses.carriageReturn else { throw .bareLineFeed }
        let line = bytes[position..<lineFeed - 1]
        advance(by: lineFeed + 1 - position)
        return line
    }

    /// Takes so many bytes, or as many as are there.
    mutating func take(atMost limit: Int) -> ArraySlice<UInt8> {
        let taken = bytes[position..<position + min(limit, count)]
        advance(by: taken.count)
        return taken
    }

    private mutating func advance(by count: Int) {
        position += count
        searched = position
        takenCount += count
    }
}
