import DurableFiles
import Foundation
import OfflineSync
import RemoteContract
import SQLCipherMaintenance
import SQLCipherStore
import SQLCipherStoreTestSupport
import SeededNumbers
import SyncContract
import Synchronization
import VirtualTime

@testable import Attachments

/// What a process does with files until it is killed: everything, in an order that a seed makes. It writes down what was
/// promised to it.
struct PhotoWorkload {
    /// A line of what is written down.
    enum Entry: Hashable {
        /// The file is taken in.
        case added(AttachmentID, Int, UInt64)
        /// A row names it.
        case named(AttachmentID)
        /// It may go.
        case removing(AttachmentID)
        /// A backup begins, and has its name.
        case copying(String)
        case copied(String)

        var line: String {
            switch self {
            case .added(let id, let count, let seed): "added \(id.text) \(count) \(seed)"
            case .named(let id): "named \(id.text)"
            case .removing(let id): "removing \(id.text)"
            case .copying(let name): "copying \(name)"
            case .copied(let name): "copied \(name)"
            }
        }

        init?(_ line: Substring) {
            let words = line.split(separator: " ").map(String.init)
            guard words.count > 1 else { return nil }
            switch (words[0], AttachmentID(words[1])) {
            case ("added", let id?) where words.count == 4:
                guard let count = Int(words[2]), let seed = UInt64(words[3]) else { return nil }
                self = .added(id, count, seed)
            case ("named", let id?): self = .named(id)
            case ("removing", let id?): self = .removing(id)
            case ("copying", _): self = .copying(words[1])
            case ("copied", _): self = .copied(words[1])
            default: return nil
            }
        }
    }

    /// The folder of the store.
    let folder: URL
    /// The folder of what is not the store's.
    let outside: URL
    private var journal: URL { outside.appending(path: "journal") }

    static let spaceLimit: Int64 = 200_000

    init(_ folder: URL, outside: URL? = nil) { (self.folder, self.outside) = (folder, outside ?? folder) }

    func open(
        _ transport: FolderTransport,
        spaceLimit: Int64 = .max,
        in unused: TestFolder? = nil
    ) async throws -> PhotoDevice {
        let options = AttachmentOptions(transport: transport, spaceLimit: spaceLimit)
        return try await PhotoDevice(in: unused, at: folder, options: options)
    }

    func transport(onPiece: @escaping @Sendable () -> Void = {}) throws -> FolderTransport {
        try FolderTransport(outside.appending(path: "server"), onPiece: onPiece)
    }

    /// What was written down by all processes so far. The last line may have been cut by the kill.
    func entries() throws -> [Entry] {
        guard FileManager.default.fileExists(atPath: journal.path) else { return [] }
        let text = String(decoding: try Data(contentsOf: journal), as: UTF8.self)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { Entry($0) }
    }

    /// What ends this process when it was called so many times.
    private static func killing(after count: Int, _ delay: Duration = .zero) -> @Sendable () -> Void {
        let left = Mutex(count)
        return {
            let isTime = left.withLock { left in
                left -= 1
                return left == 0
            }
            if isTime { killProcess(after: delay) }
        }
    }

    /// Nobody removes the device's own folder, which it does not use, when this process is killed.
    private func unusedFolder() throws -> TestFolder {
        let unused = try TestFolder()
        try FileManager.default.removeItem(at: unused.url)
        return unused
    }

    /// Sends or fetches a file until the process is killed before a piece of it.
    func fetch(_ id: AttachmentID, endingBefore piece: Int) async throws {
        let device = try await open(transport(onPiece: Self.killing(after: piece)), in: unusedFolder())
        try await device.attachments.fetch([id])
        try await device.attachments.settle()
    }

    /// Works for ever. The process is killed some time after so many lines that it has written down, and pieces that have
    /// travelled.
    func run(_ seed: UInt64, endingAfter count: Int, _ delay: Duration) async throws {
        let noted = Self.killing(after: count, delay)
        var random = SeededGenerator(seed: seed)
        // Little room, so that what was sent soon has to be fetched again.
        let device = try await open(transport(onPiece: noted), spaceLimit: Self.spaceLimit, in: unusedFolder())
        let before = try entries()
        var known: [AttachmentID] = before.compactMap { entry in
            guard case .named(let id) = entry, !before.contains(.removing(id)) else { return nil }
            return id
        }
        while true {
            do {
                try await step(device, &known, &random, noted)
            } catch let error as StoreError where error.code == .full {
                // What was fetched has made room for something else at once: there is little.
            }
        }
    }

    /// Does one thing.
    func step(
        _ device: PhotoDevice,
        _ known: inout [AttachmentID],
        _ random: inout SeededGenerator,
        _ noted: () -> Void = {}
    ) async throws {
        func note(_ entry: Entry) throws {
            if !FileManager.default.fileExists(atPath: journal.path) { try Data().write(to: journal) }
            let file = try FileHandle(forWritingTo: journal)
            try file.seekToEnd()
            try file.write(contentsOf: Data((entry.line + "\n").utf8))
            try file.close()
            noted()
        }
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3:
            let count = Int.random(in: 0...200_000, using: &random)
            let seed = UInt64.random(in: 0...999, using: &random)
            let id = try await device.attachments.add(Data(content(count, seed: seed)))
            try note(.added(id, count, seed))
            try await device.coupons.insert(Coupon(photo: id))
            try note(.named(id))
            known.append(id)
        case 4: _ = try await device.context.push()
        case 5...6:
            if let id = known.randomElement(using: &random) { _ = try await device.attachments.data(of: id) }
        case 7:
            guard Bool.random(using: &random), let id = known.popLast() else { return }
            try note(.removing(id))
            try await device.attachments.remove(id)
        case 8:
            try await RenewalTests.expose(device.store)
            await device.attachments.lock()
            await device.attachments.unlock()
        default:
            let name = "\(UInt32.random(in: 0...(.max), using: &random))"
            try note(.copying(name))
            try await backUp(device, name)
            try note(.copied(name))
        }
    }

    /// A backup as that of a store's folder.
    func backUp(_ device: PhotoDevice, _ name: String) async throws {
        let files = AttachmentFolder(folder.appending(path: AttachmentFolder.name))
        @Sendable func copy(_ path: String) -> URL { URL(filePath: path).appending(path: AttachmentFolder.name) }
        try await files.keepingFiles {
            try await device.store.backUp(
                toFolder: folder.appending(path: name),
                with: [],
                and: EncryptedStore.FurtherFiles(
                    copy: { try await files.copy(to: copy($0)) },
                    clear: { try AttachmentFolder(copy($0)).removeAll() }
                ),
                progress: nil
            )
        }
    }

    /// Ends this process at an instant that nothing in it can prepare for.
    private static func killProcess(after delay: Duration) {
        guard delay > .zero else {
            kill(getpid(), SIGKILL)
            return
        }
        let end = ContinuousClock.now + delay
        Thread.detachNewThread {
            while ContinuousClock.now < end {}
            kill(getpid(), SIGKILL)
        }
    }
}
