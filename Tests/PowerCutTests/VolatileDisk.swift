import SeededNumbers

/// One change of a disk, as the program that made it was told that it has succeeded.
enum DiskChange: Sendable {
    case created(String, isFolder: Bool)
    case wrote(String, at: Int, [UInt8])
    case resized(String, Int)
    /// The content of a file, or the names in a folder, are on the medium.
    case synchronized(String)
    case linked(String, as: String)
    case renamed(String, to: String)
    case removed(String)
    /// Somebody was told that so many things are done.
    case acknowledged(Int)
}

/// What is on a disk at an instant, and what of it outlasts a loss of power: the content of a file as it was last
/// synchronized, the names in a folder likewise, and of what came after that whatever the disk had happened to write.
struct VolatileDisk {
    private enum Write {
        case bytes(at: Int, [UInt8])
        case size(Int)
    }

    private struct Node {
        let isFolder: Bool
        var content: [UInt8] = []
        var durable: [UInt8] = []
        var pending: [Write] = []
    }

    /// A change of the names in a folder. A renaming is one: no power cut takes it apart.
    private struct Naming {
        let folder: String
        var removed: String?
        var added: (name: String, node: Int)?
    }

    private var nodes: [Node] = []
    private var names: [String: Int] = [:]
    private var durableNames: [String: Int] = [:]
    private var pendingNames: [Naming] = []

    /// How many things somebody was told are done.
    private(set) var acknowledged = 0

    /// A disk on which all that is given outlasts everything: the content of each file by its path, nil for a folder.
    init(_ files: [String: [UInt8]?]) {
        for (path, content) in files {
            names[path] = nodes.count
            nodes.append(Node(isFolder: content == nil, content: content ?? [], durable: content ?? []))
        }
        durableNames = names
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    /// Makes a change. One of a file that has no name any more, or never had one, changes nothing that could be found.
    mutating func apply(_ change: DiskChange) {
        switch change {
        case .created(let path, let isFolder):
            nodes.append(Node(isFolder: isFolder))
            name(path, nodes.count - 1)
        case .wrote(let path, let offset, let bytes): write(path, .bytes(at: offset, bytes))
        case .resized(let path, let size): write(path, .size(size))
        case .synchronized(let path): synchronize(path)
        case .linked(let path, let newPath):
            if let node = names[path] { name(newPath, node) }
        case .renamed(let path, let newPath):
            guard let node = names.removeValue(forKey: path) else { return }
            names[newPath] = node
            pendingNames.append(Naming(folder: Self.folder(of: path), removed: path, added: (newPath, node)))
        case .removed(let path):
            guard names.removeValue(forKey: path) != nil else { return }
            pendingNames.append(Naming(folder: Self.folder(of: path), removed: path))
        case .acknowledged(let count): acknowledged = count
        }
    }

    private mutating func name(_ path: String, _ node: Int) {
        names[path] = node
        pendingNames.append(Naming(folder: Self.folder(of: path), added: (path, node)))
    }

    private mutating func write(_ path: String, _ write: Write) {
        guard let node = names[path] else { return }
        Self.apply(write, to: &nodes[node].content)
        nodes[node].pending.append(write)
    }

    private mutating func synchronize(_ path: String) {
        if let node = names[path], !nodes[node].isFolder {
            nodes[node].durable = nodes[node].content
            nodes[node].pending = []
            return
        }
        for naming in pendingNames where naming.folder == path { Self.apply(naming, to: &durableNames) }
        pendingNames.removeAll { $0.folder == path }
    }

    private static func apply(_ naming: Naming, to names: inout [String: Int]) {
        if let removed = naming.removed { names[removed] = nil }
        if let added = naming.added { names[added.name] = added.node }
    }

    private static func apply(_ write: Write, to content: inout [UInt8]) {
        switch write {
        case .size(let size):
            content.removeLast(max(content.count - size, 0))
            content.append(contentsOf: repeatElement(0, count: size - content.count))
        case .bytes(let offset, let bytes):
            let end = offset + bytes.count
            if content.count < end { content.append(contentsOf: repeatElement(0, count: end - content.count)) }
            content.replaceSubrange(offset..<end, with: bytes)
        }
    }
}

extension VolatileDisk {
    /// What there is for whoever looks before the power fails, as after a kill: by path, nil for a folder.
    var files: [String: [UInt8]?] {
        names.mapValues { nodes[$0].isFolder ? nil : nodes[$0].content }
    }

    /// How much of what was not synchronized a power cut leaves.
    private enum Survival: CaseIterable {
        case nothing
        case all
        /// What came first.
        case beginning
        /// Any part, in any order.
        case part
    }

    /// What lies on the disk when the power comes back, by path; nil for a folder. Chance says what of the changes that
    /// were not synchronized has come through, file by file and sector by sector.
    func afterPowerCut(_ random: inout SeededGenerator) -> [String: [UInt8]?] {
        var names = durableNames
        for naming in Self.survivors(pendingNames, &random) { Self.apply(naming, to: &names) }
        var files: [String: [UInt8]?] = [:]
        // In an order that is the same each time: chance is drawn from one after the other.
        for (path, node) in names.sorted(by: { $0.key < $1.key }) where Self.isReachable(path, names) {
            files[path] = .some(nodes[node].isFolder ? nil : Self.content(nodes[node], &random))
        }
        return files
    }

    /// Whether every folder around a path is there as well. The outermost one is that of the recording.
    private static func isReachable(_ path: String, _ names: [String: Int]) -> Bool {
        var folder = folder(of: path)
        while !folder.isEmpty {
            guard names[folder] != nil else { return false }
            folder = self.folder(of: folder)
        }
        return true
    }

    private static func survivors<Change>(_ changes: [Change], _ random: inout SeededGenerator) -> [Change] {
        switch Survival.allCases.randomElement(using: &random) ?? .nothing {
        case .nothing: []
        case .all: changes
        case .beginning: Array(changes.prefix(.random(in: 0...changes.count, using: &random)))
        case .part: changes.filter { _ in Bool.random(using: &random) }
        }
    }

    private static let sectorSize = 512

    private static func content(_ node: Node, _ random: inout SeededGenerator) -> [UInt8] {
        var content = node.durable
        let survivors = survivors(node.pending, &random)
        // One of them was being written when the power failed.
        let torn = survivors.isEmpty ? nil : Int.random(in: 0..<survivors.count * 2, using: &random)
        for (index, write) in survivors.enumerated() {
            guard index == torn, case .bytes(let offset, let bytes) = write else {
                apply(write, to: &content)
                continue
            }
            // The file has grown; what was not written in there is what lay on the disk before.
            let end = offset + bytes.count
            while content.count < end { content.append(UInt8.random(in: .min ... .max, using: &random)) }
            for start in stride(from: 0, to: bytes.count, by: sectorSize) where Bool.random(using: &random) {
                apply(.bytes(at: offset + start, Array(bytes[start...].prefix(sectorSize))), to: &content)
            }
        }
        return content
    }
}
