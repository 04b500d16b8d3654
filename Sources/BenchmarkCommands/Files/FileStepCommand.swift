internal import Attachments
internal import CommandArguments
internal import DatasyncHTTP
internal import Foundation
internal import ItemCoding
internal import OfflineSync
internal import RemoteContract
internal import SQLCipherStore
internal import SecretMemory
internal import SyncContract
internal import SyncSessions

/// One step of `files`.
struct FileStepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file-step",
        abstract: "Does one step of what 'files' measures, which starts it itself.",
        discussion: """
            It says at which byte each transfer begins, and at the end how many seconds and how many MB of memory it took.
            """
    )

    static let table = "Document"

    struct Document: SyncItem {
        var id = UUID()
        var file: AttachmentID?
    }

    @Option(help: "What is done: add, send, evict, fetch or read.")
    var step: FileStep

    @Option(help: "Where the store is, and beside it the file 'source'.")
    var folder: String

    @Option(help: "Where the server listens.")
    var server: String

    @Option(help: "At which byte of the file the process ends itself.")
    var end: Int?

    private var source: URL { URL(filePath: folder).appending(path: "source") }

    func run() async throws {
        guard let url = URL(string: server) else { throw ValidationError("--server is no address") }
        let context = try await open(DatasyncRemote(baseURL: url, dialect: .datasync))
        let start = ContinuousClock.now
        try await work(context)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        await context.session.close()
        await context.attachments.close()
        await (context.store as? EncryptedStore)?.close()
        Report.write("done \(seconds) \(PeakMemory.bytes >> 20)")
    }

    private func open(_ remote: DatasyncRemote) async throws -> SyncContext {
        let folder = URL(filePath: folder)
        // The key of a store that holds nothing but made-up rows.
        let key = unsafe try SecretBytes(count: 32) { bytes in
            for index in bytes.indices { unsafe bytes[index] = UInt8(index) }
        }
        let schema = try StoreSchema([TableDefinition(Document.self)]).withAttachments()
        let store = try await EncryptedStore.open(
            at: folder.appending(path: "store.db"),
            key: key,
            schema: schema,
            mode: .openOrCreate
        )
        let context = SyncContext(store: store, remote: remote)
        try await context.startAttachments(
            in: folder.appending(path: "attachments"),
            AttachmentOptions(spaceLimit: step == .evict ? 0 : .max),
            transport: WatchedTransport(base: try remote.attachments(), end: end.map(Int64.init)),
            ahead: [],
            environment: AttachmentEnvironment(
                backoff: Backoff(first: .milliseconds(20), longest: .milliseconds(100))
            )
        )
        return context
    }

    private func work(_ context: SyncContext) async throws {
        let (attachments, table) = (context.attachments, try context.table(Document.self))
        if step == .add {
            try await table.insert(Document(file: attachments.add(contentsOf: source)))
            return
        }
        guard let id = try await table.read().first?.file else { throw BenchmarkFailure("there is no file") }
        switch step {
        case .add: break
        case .send:
            _ = try await context.push()
            try await becomes(.synced, id, attachments)
        case .evict: try await becomes(.remote, id, attachments)
        case .fetch:
            do {
                try await attachments.fetch([id])
            } catch let error as RemoteError where error.code == .unreachable {
                // It was broken off, and goes on by itself.
                try await becomes(.synced, id, attachments)
            }
        case .read: try await compare(attachments.contents(of: id))
        }
    }

    private func becomes(_ end: AttachmentState, _ id: AttachmentID, _ attachments: SyncAttachments) async throws {
        for await state in attachments.observe(id) {
            if state == end { return }
            if case .failed(let message) = state { throw BenchmarkFailure(message) }
        }
        throw BenchmarkFailure("the store was closed")
    }

    private func compare(_ contents: AttachmentContents) async throws {
        let file = try FileHandle(forReadingFrom: source)
        for try await piece in contents {
            guard try file.read(upToCount: piece.count) == piece else {
                throw BenchmarkFailure("the file is not what it was")
            }
        }
        guard try file.read(upToCount: 1)?.isEmpty ?? true else { throw BenchmarkFailure("the file is too short") }
        try file.close()
    }
}
