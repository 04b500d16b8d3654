/// A direction, or several.
public struct SyncDirection: OptionSet, Sendable, Hashable {
    /// The directions as bits.
    public let rawValue: Int

    /// Makes a set of directions of its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Changes from here to the server.
    public static let upload = SyncDirection(rawValue: 1)

    /// Rows from the server to here.
    public static let download = SyncDirection(rawValue: 2)

    /// Both.
    public static let both: SyncDirection = [.upload, .download]
}

extension SyncDirection: CustomStringConvertible {
    /// `upload`, `download`, `both` or `none`.
    public var description: String {
        switch (contains(.upload), contains(.download)) {
        case (true, true): "both"
        case (true, false): "upload"
        case (false, true): "download"
        case (false, false): "none"
        }
    }

    /// The other way round of ``description``; anything else is none.
    init(stored text: String) {
        self = text == "both" ? .both : text == "upload" ? .upload : text == "download" ? .download : []
    }

    /// As it is stored; none is the empty text.
    var stored: String { isEmpty ? "" : description }
}
