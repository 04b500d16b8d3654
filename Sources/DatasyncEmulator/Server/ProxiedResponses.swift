/// The answers of the server behind a proxy, byte by byte as they came.
struct ProxiedResponses {
    private let server: Socket
    private var reader = ResponseReader()
    private var bytes: [UInt8] = []

    /// Whether the latest answer says that the connection ends with it.
    var isLast: Bool { reader.isLast }

    init(_ server: Socket) {
        self.server = server
    }

    /// The next answer; nil when the server closed the connection instead. Interim answers are left out.
    mutating func next(isToHead: Bool) throws -> [UInt8]? {
        while true {
            switch try reader.next(isToHead: isToHead) {
            case .response(let count): return take(count)
            case .interim(let count): _ = take(count)
            case nil:
                let more = try server.receive(until: .now + .unlimited)
                guard !more.isEmpty else {
                    guard case .response(let count) = reader.end() else { return nil }
                    return take(count)
                }
                reader.append(more)
                bytes.append(contentsOf: more)
            }
        }
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        defer { bytes.removeFirst(count) }
        return Array(bytes.prefix(count))
    }
}

extension Duration {
    /// A proxy waits as long as those on both sides of it do.
    static let unlimited = Duration.seconds(1_000_000_000)
}
