/// How an encrypted file lies on the disk: a header that is authenticated with every chunk, then the chunks. An empty file has
/// one chunk without content; of any other file no chunk is empty.
enum SealedFileFormat {
    /// Eight letters, the format, the size of a chunk as a power of two, and six zeros.
    static let header = Array("SealedAt".utf8) + [1, 16, 0, 0, 0, 0, 0, 0]
    /// What a whole chunk takes.
    static let chunkCount = ChunkCipher.contentCount + ChunkCipher.overhead

    /// Where the chunks of a file of some size are.
    struct Layout: Sendable, Hashable {
        /// How long the content is.
        let length: Int64
        /// How many chunks there are, at least one.
        let chunks: Int

        /// Of content of that length.
        init(length: Int64) {
            self.length = length
            let size = Int64(ChunkCipher.contentCount)
            chunks = max(1, Int((length + size - 1) / size))
        }

        /// Of a file of that many bytes; nil when no content takes so many.
        init?(fileSize: Int) {
            let bytes = fileSize - header.count
            let (whole, rest) = bytes.quotientAndRemainder(dividingBy: chunkCount)
            guard bytes > 0, rest == 0 || rest > ChunkCipher.overhead || rest == ChunkCipher.overhead && whole == 0
            else { return nil }
            self.init(
                length: Int64(whole) * Int64(ChunkCipher.contentCount) + Int64(max(0, rest - ChunkCipher.overhead))
            )
        }

        /// How many bytes the file has.
        var fileSize: Int { header.count + Int(length) + chunks * ChunkCipher.overhead }

        /// How much content a chunk has.
        func count(of chunk: Int) -> Int {
            chunk < chunks - 1
                ? ChunkCipher.contentCount : Int(length - Int64(chunks - 1) * Int64(ChunkCipher.contentCount))
        }
    }

    /// Where a chunk begins in the file.
    static func offset(of chunk: Int) -> Int { header.count + chunk * chunkCount }
}
