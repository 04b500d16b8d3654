/// The bytes of an answer: what is in memory, and then a part of a file.
struct ResponseSource {
    private static let pieceSize = 256 * 1_024

    private var bytes: ArraySlice<UInt8>
    private let file: EmulatorResponse.File?
    private var offset: Int64 = 0

    init(bytes: [UInt8], file: EmulatorResponse.File?) {
        self.bytes = bytes[...]
        self.file = file
    }

    var isAtEnd: Bool { bytes.isEmpty && offset == file?.count ?? 0 }

    /// The next bytes, at least one before the end.
    ///
    /// - Throws: When the file cannot be read: nothing but the end of the connection can say so any more.
    mutating func next(atMost limit: Int) throws(TransferFailure) -> ArraySlice<UInt8> {
        if !bytes.isEmpty {
            defer { bytes = bytes.dropFirst(limit) }
            return bytes.prefix(limit)
        }
        guard let file else { throw .disconnected }
        let piece: [UInt8]
        do {
            piece = try file.read(at: offset, atMost: min(limit, Self.pieceSize))
        } catch {
            // The head has left: which error it was has no place in the answer any more.
            throw .disconnected
        }
        // It has become shorter since the head was written.
        guard !piece.isEmpty else { throw .disconnected }
        offset += Int64(piece.count)
        return piece[...]
    }
}
