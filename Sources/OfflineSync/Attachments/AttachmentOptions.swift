public import RemoteContract

/// How the files of rows travel, and what they may take on this device. Each setting has a default.
public struct AttachmentOptions: Sendable {
    /// The path of the files, below the service's address.
    public var path: String

    /// Something else that carries files; nil for the service of the rows.
    public var transport: (any AttachmentTransport)?

    /// How many files travel at a time, 1 to 8.
    public var parallelTransfers: Int {
        didSet { parallelTransfers = Self.bounded(parallelTransfers) }
    }

    /// The most bytes of content, 0 or more, that files which are also on the server may take here; those that were not used
    /// for longest go first. Files that are not on the server stay, whatever they take.
    public var spaceLimit: Int64

    /// Which files are fetched before somebody asks for them; none unless said.
    public var ahead: AttachmentsAhead

    /// Creates settings. A number beyond its bounds is brought to the nearest one.
    public init(
        path: String = "attachments",
        transport: (any AttachmentTransport)? = nil,
        parallelTransfers: Int = 2,
        spaceLimit: Int64 = 512 << 20,
        ahead: AttachmentsAhead = .none
    ) {
        self.path = path
        self.transport = transport
        self.parallelTransfers = Self.bounded(parallelTransfers)
        self.spaceLimit = max(0, spaceLimit)
        self.ahead = ahead
    }

    private static func bounded(_ transfers: Int) -> Int { min(max(transfers, 1), 8) }
}
