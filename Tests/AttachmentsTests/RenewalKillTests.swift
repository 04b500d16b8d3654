import DurableFiles
import FileSystemRecording
import Foundation
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import StoreConformance
import SyncContract
import Testing

@testable import Attachments

@Suite("Processes that end while files are encrypted anew")
struct RenewalKillTests {
    private static func open(_ path: String) async throws -> EncryptedStore {
        try await EncryptedStore.open(
            at: URL(filePath: path).appending(path: "store.db"),
            key: .testKey(),
            schema: PhotoDevice.schema()
        )
    }

    private static func files(_ path: String) -> URL { URL(filePath: path).appending(path: AttachmentFolder.name) }

    private struct Prepared {
        let folder: TestFolder
        let known: RenewalTests.Knowledge
        let contents: [(AttachmentID, [UInt8])]
    }

    /// Two files that are here, and one that has come in part; all are marked.
    private func prepare() async throws -> Prepared {
        let device = try await PhotoDevice()
        let contents = [content(70_000), content(66_000, seed: 2)]
        var ids: [AttachmentID] = []
        for bytes in contents { ids.append(try await device.add(bytes).1) }
        let partial = AttachmentID.make()
        device.server.put(content(200_000), as: partial)
        device.server.set { _ in .cut(after: 150_000) }
        await #expect(throws: RemoteError.self) { try await device.attachments.fetch([partial]) }
        try await RenewalTests.expose(device.store)
        let known = try await RenewalTests.Knowledge(device)
        await device.close()
        return Prepared(folder: device.folder, known: known, contents: Array(zip(ids, contents)))
    }

    /// What lies there belongs to rows or is named; and the next run ends the work.
    private func expectRecovery(_ prepared: Prepared) async throws {
        let path = prepared.folder.url.path
        let store = try await Self.open(path)
        let folder = AttachmentFolder(Self.files(path))
        let schema = store.schema
        let findings = try await store.read { try AttachmentVerification.findings(in: folder, &$0, schema) }
        #expect(findings.allSatisfy { $0.kind == .strayAttachment }, "\(findings)")
        let known = try await store.read { try $0.attachments(Query(AttachmentFiles.table.name)).map(\.name) }
        let strays = try folder.names().count { name in !known.contains { name == $0 || name == $0 + ".part" } }
        #expect(findings.count == strays)
        _ = try await AttachmentReencryption.run(store, in: Self.files(path)) { _, _ in }
        #expect(try prepared.known.opens(Self.files(path)) == 0)
        #expect(try folder.names().count == prepared.contents.count)
        for (id, bytes) in prepared.contents {
            let row = try #require(try await store.read { try $0.attachment(id) })
            let reader = try folder.open(row)
            var read: [UInt8] = []
            for chunk in 0..<reader.layout.chunks { read += try reader.content(of: chunk) }
            #expect(read == bytes && !row.isExposed)
        }
        await store.close()
    }

    @Test("two files are encrypted anew in this order")
    func order() async throws {
        let prepared = try await prepare()
        let store = try await Self.open(prepared.folder.url.path)
        let recorder = FileSystemRecorder(in: prepared.folder.url)
        let files = Self.files(prepared.folder.url.path)
        let count = try await AttachmentReencryption.run(store, in: files, recorder.fileSystem) { _, _ in }
        #expect(count == 2)
        #expect(recorder.takeLines() == Self.steps)
        await store.close()
    }

    private static let steps = ["synchronize .", "synchronize attachments", "remove attachments/*.part"] + file + file

    private static let file = [
        "create attachments/*.new", "write attachments/*.new", "write attachments/*.new", "write attachments/*.new",
        "synchronize attachments/*.new", "rename attachments/*.new attachments/*", "synchronize attachments",
        "remove attachments/*",
    ]

    /// Which calls of the store write: one for what is not here, and one for each file.
    private static let writes = [2, 6, 8]

    @Test(
        "at any change of the folder: each file is whole, old or new, and the rest is named",
        arguments: 1...steps.count
    )
    func killed(step: Int) async throws {
        let prepared = try await prepare()
        let path = prepared.folder.url.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as Int] in
            let store = try await Self.open(path)
            _ = try await AttachmentReencryption.run(store, in: Self.files(path), .killing(after: step)) { _, _ in }
        }
        try await expectRecovery(prepared)
    }

    @Test("before or after any transaction", arguments: [StoreFault.Moment.beforeCommit, .afterCommit], writes)
    func killed(_ moment: StoreFault.Moment, call: Int) async throws {
        let prepared = try await prepare()
        let path = prepared.folder.url.path
        let before = moment == .beforeCommit
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, call = call as Int, before = before as Bool] in
            let store = FaultyStore(try await Self.open(path)) {
                $0.number == call ? .stopsProcess(before ? .beforeCommit : .afterCommit) : nil
            }
            _ = try await AttachmentReencryption.run(store, in: Self.files(path)) { _, _ in }
        }
        try await expectRecovery(prepared)
    }

    @Test("or whose store fails at any transaction", arguments: StoreFault.Moment.allCases, writes)
    func failed(_ moment: StoreFault.Moment, call: Int) async throws {
        let prepared = try await prepare()
        let path = prepared.folder.url.path
        let store = try await Self.open(path)
        let faulty = FaultyStore(store) { $0.number == call ? .fails(moment) : nil }
        await #expect(throws: StoreError.self) {
            _ = try await AttachmentReencryption.run(faulty, in: Self.files(path)) { _, _ in }
        }
        await store.close()
        try await expectRecovery(prepared)
    }
}
