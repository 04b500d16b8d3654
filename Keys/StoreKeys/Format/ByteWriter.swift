/// Appends fields, numbers with their most significant byte first.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ more: some Sequence<UInt8>) {
        bytes.append(contentsOf: more)
    }

    mutating func append<Number: FixedWidthInteger>(integer: Number) {
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: integer >> shift))
        }
    }
}
