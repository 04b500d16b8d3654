extension DiskChange {
    /// The change on one line, without content.
    var line: String {
        switch self {
        case .created(let path, let isFolder): "create \(path)\(isFolder ? "/" : "")"
        case .wrote(let path, let offset, let bytes): "write \(path) \(offset)..<\(offset + bytes.count)"
        case .resized(let path, let size): "resize \(path) \(size)"
        case .synchronized(let path): "synchronize \(path.isEmpty ? "." : path)"
        case .linked(let path, let newPath): "link \(path) \(newPath)"
        case .renamed(let path, let newPath): "rename \(path) \(newPath)"
        case .removed(let path): "remove \(path)"
        case .acknowledged(let count): "acknowledge \(count)"
        }
    }

    /// The folder in which something that was there gets a name; nil for other changes.
    var folderOfName: String? {
        switch self {
        case .linked(_, let path), .renamed(_, let path): path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        default: nil
        }
    }
}
