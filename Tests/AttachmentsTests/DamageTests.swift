import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import SyncSessions
import Testing

@testable import Attachments

@Suite("A file here that is damaged", .timeLimit(.minutes(1)))
struct DamageTests {
    private let bytes = content(200_000)

    private func url(of id: AttachmentID, _ device: PhotoDevice) async throws -> URL {
        device.filesURL.appending(path: try #require(try await device.core.work.file(id)).name)
    }

    /// Damages a file that lies here.
    ///
    /// - Returns: What it was, and what it is.
    @discardableResult
    private func damage(_ id: AttachmentID, _ device: PhotoDevice, at offset: Int = 70_000) async throws -> (Data, Data)
    {
        let url = try await url(of: id, device)
        let sound = try Data(contentsOf: url)
        var damaged = sound
        damaged[offset] ^= 1
        try damaged.write(to: url)
        return (sound, damaged)
    }

    /// Reads a file, and says how that has failed.
    private func failure(of id: AttachmentID, _ device: PhotoDevice, inPieces: Bool = false) async -> StoreError? {
        await #expect(throws: StoreError.self) {
            guard inPieces else {
                _ = try await device.attachments.data(of: id)
                return
            }
            for try await _ in device.attachments.contents(of: id) {}
        }
    }

    @Test("is fetched again from the server that has it", arguments: [100, 70_000, 200_000], [false, true])
    func fetched(offset: Int, inPieces: Bool) async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.addAndSend(bytes)
        let before = try #require(try await device.core.work.file(id))
        try await damage(id, device, at: offset)
        let error = await failure(of: id, device, inPieces: inPieces)
        #expect(error?.code == .damaged && error?.message.contains("it is fetched again") == true)
        try await device.attachments.fetch([id])
        #expect(try await device.attachments.state(of: id) == .synced)
        let isSame = try await device.attachments.data(of: id) == Data(bytes)
        #expect(isSame)
        // Under a key that nothing was encrypted with.
        let after = try #require(try await device.core.work.file(id))
        #expect(after.name != before.name)
        let isSameKey = unsafe before.key.withUnsafeBytes { old in
            unsafe after.key.withUnsafeBytes { unsafe $0.elementsEqual(old) }
        }
        #expect(!isSameKey)
        #expect(try device.fileNames() == [after.name])
        #expect(device.server.requests(.delete) == [] && device.server.requests(.download).map(\.offset) == [0])
        await device.close()
    }

    @Test("comes by itself as well")
    func byItself() async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.addAndSend(bytes)
        try await damage(id, device)
        _ = await failure(of: id, device)
        try await device.attachments.settle()
        #expect(try await device.attachments.state(of: id) == .synced)
        #expect(device.server.requests(.download).count == 1)
        await device.close()
    }

    @Test("and that is seen when it is opened is fetched before it is read", arguments: [0, 20, 1_000])
    func shortened(count: Int) async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.addAndSend(bytes)
        let url = try await url(of: id, device)
        try Data(contentsOf: url).prefix(count).write(to: url)
        let isSame = try await device.attachments.data(of: id) == Data(bytes)
        #expect(isSame)
        await device.close()
    }

    @Test("lies there until the server can be asked, also over a restart")
    func unreachable() async throws {
        let before = try await PhotoDevice()
        let (_, id) = try await before.addAndSend(bytes)
        before.server.set { _ in .failed(FaultyTransport.broken) }
        let (_, damaged) = try await damage(id, before)
        #expect(await failure(of: id, before)?.code == .damaged)
        try await before.attachments.settle()
        #expect(try await before.attachments.state(of: id) == .remote)
        await #expect(throws: RemoteError.self) { try await before.attachments.fetch([id]) }
        let device = try await before.reopened()
        try await device.attachments.settle()
        #expect(try await device.attachments.state(of: id) == .remote)
        #expect(try await Data(contentsOf: url(of: id, device)) == damaged)
        device.server.set { _ in .answered }
        let isSame = try await device.attachments.data(of: id) == Data(bytes)
        #expect(isSame)
        #expect(try device.fileNames().count == 1)
        await device.close()
    }

    @Test("and turns out to be whole is not fetched")
    func whole() async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.addAndSend(bytes)
        device.server.set { _ in .failed(FaultyTransport.broken) }
        let (sound, _) = try await damage(id, device)
        #expect(await failure(of: id, device)?.code == .damaged)
        try await device.attachments.settle()
        try await sound.write(to: url(of: id, device))
        let isSame = try await device.attachments.data(of: id) == Data(bytes)
        #expect(isSame)
        #expect(device.server.requests(.download) == [])
        await device.close()
    }

    @Test("that the server has lost is told as failed, although nothing wants it any more by then")
    func lostWhileAsked() async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.addAndSend(bytes)
        device.context.session.suspend(.download)
        device.server[id] = nil
        try await damage(id, device)
        _ = await failure(of: id, device)
        let file = try #require(try await device.core.work.file(id))
        let error = await #expect(throws: StoreError.self) {
            _ = try await device.core.work.replaced(file, device.server)
        }
        #expect(try await device.attachments.state(of: id) == .failed(error?.message ?? ""))
        await device.close()
    }

    @Test("stays when the server has lost it, and is sent when it was put back")
    func lost() async throws {
        let before = try await PhotoDevice()
        let (_, id) = try await before.addAndSend(bytes)
        before.server[id] = nil
        let (sound, damaged) = try await damage(id, before)
        #expect(await failure(of: id, before)?.code == .damaged)
        await before.state(of: id) { if case .failed = $0 { true } else { false } }
        let name = try await url(of: id, before).lastPathComponent
        for error in [await failure(of: id, before), await failure(of: id, before, inPieces: true)] {
            #expect(error?.code == .damaged && error?.message.contains("'attachments/\(name)'") == true)
        }
        let device = try await before.reopened()
        try await device.attachments.settle()
        #expect(try device.fileNames() == [name])
        #expect(try await Data(contentsOf: url(of: id, device)) == damaged)
        try await sound.write(to: url(of: id, device))
        try await device.attachments.retry(id)
        await device.state(of: id) { $0 == .synced }
        #expect(device.server[id]?.isComplete == true)
        await device.close()
    }

    @Test("stays when it was never sent, and the message tells which one to put back")
    func unsent() async throws {
        let device = try await PhotoDevice()
        device.context.session.suspend(.upload)
        let (_, id) = try await device.add(bytes)
        let (sound, damaged) = try await damage(id, device)
        let url = try await url(of: id, device)
        let error = await failure(of: id, device)
        #expect(error?.code == .damaged && error?.message.contains(url.lastPathComponent) == true)
        #expect(try await device.attachments.state(of: id) == .pending)
        _ = try await device.context.push()
        device.context.session.resume(.upload)
        await device.state(of: id) { $0 == .failed(error?.message ?? "") }
        try await device.attachments.fetch([id])
        #expect(try Data(contentsOf: url) == damaged)
        try sound.write(to: url)
        try await device.attachments.retry(id)
        await device.state(of: id) { $0 == .synced }
        await device.close()
    }

    @Test("stays in a context without a server")
    func noServer() async throws {
        let before = try await PhotoDevice()
        let (_, id) = try await before.addAndSend(bytes)
        let (_, damaged) = try await damage(id, before)
        await before.close()
        let device = try await PhotoDevice(in: before.folder, hasServer: false)
        let error = await failure(of: id, device)
        #expect(error?.code == .damaged && error?.message.contains("with its server") == true)
        #expect(try await device.attachments.state(of: id) == .synced)
        #expect(try await Data(contentsOf: url(of: id, device)) == damaged)
        await device.close()
    }

    @Test("lies there, and a verification names it, also when nobody waits for it any more")
    func cancelled() async throws {
        let before = try await PhotoDevice()
        let (_, id) = try await before.addAndSend(bytes)
        before.context.session.suspend(.download)
        let (_, damaged) = try await damage(id, before)
        #expect(await failure(of: id, before)?.code == .damaged)
        // As whoever waits for it in vain leaves it.
        try await before.core.work.change(id) { $0.isWanted = false }
        let device = try await before.reopened()
        device.server.set { _ in .failed(FaultyTransport.broken) }
        try await device.attachments.settle()
        #expect(try await Data(contentsOf: url(of: id, device)) == damaged)
        let (folder, schema) = (AttachmentFolder(device.filesURL), device.store.schema)
        let findings = try await device.store.read { try AttachmentVerification.findings(in: folder, &$0, schema) }
        #expect(findings.map(\.kind) == [.damagedAttachment])
        device.server.set { _ in .answered }
        device.context.session.resume(.download)
        let isSame = try await device.attachments.data(of: id) == Data(bytes)
        #expect(isSame)
        await device.close()
    }

    @Test(
        "keeps its key in a revocation, which says so, until the server has said that it has it",
        arguments: [true, false]
    )
    func revoked(isNoted: Bool) async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.addAndSend(bytes)
        let (_, other) = try await device.addAndSend([1, 2, 3])
        device.context.session.suspend(.download)
        let (_, damaged) = try await damage(id, device)
        if isNoted { #expect(await failure(of: id, device)?.code == .damaged) }
        let name = try await url(of: id, device).lastPathComponent
        let otherName = try await url(of: other, device).lastPathComponent
        try await RenewalTests.expose(device.store)
        let error = await #expect(throws: StoreError.self) {
            _ = try await AttachmentReencryption.run(device.store, in: device.filesURL) { _, _ in }
        }
        #expect(
            error?.code == .damaged && error?.message.hasPrefix("1 attachment is damaged and keeps its key") == true
        )
        #expect(try await url(of: id, device).lastPathComponent == name)
        #expect(try await url(of: other, device).lastPathComponent != otherName)
        #expect(try await Data(contentsOf: url(of: id, device)) == damaged)
        try await device.core.work.renewPresent()
        #expect(try await Data(contentsOf: url(of: id, device)) == damaged)
        device.context.session.resume(.download)
        let isSame = try await device.attachments.data(of: id) == Data(bytes)
        #expect(isSame)
        #expect(try await url(of: id, device).lastPathComponent != name)
        #expect(try await device.store.read { try $0.count(AttachmentWork.exposed) } == 0)
        await device.close()
    }

    @Test("and that the server has lost stays in a revocation")
    func revokedAndLost() async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.addAndSend(bytes)
        let (_, damaged) = try await damage(id, device)
        device.server[id] = nil
        try await RenewalTests.expose(device.store)
        try await device.core.work.renewPresent()
        await device.state(of: id) { if case .failed = $0 { true } else { false } }
        #expect(try await Data(contentsOf: url(of: id, device)) == damaged)
        await device.close()
    }

    @Test("and that the server has, though that was not known here, is fetched again", arguments: [20, 70_000])
    func notKnownToBeThere(count: Int) async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.addAndSend(bytes)
        try await device.core.work.change(id) { ($0.isOnServer, $0.isDue) = (false, true) }
        let url = try await url(of: id, device)
        try Data(contentsOf: url).prefix(count).write(to: url)
        try await device.attachments.retry(id)
        await device.state(of: id) { $0 == .synced }
        let isSame = try await device.attachments.data(of: id) == Data(bytes)
        #expect(isSame)
        await device.close()
    }

    @Test("and that is another one under the same key is named by a verification")
    func exchanged() async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.addAndSend(bytes)
        let file = try #require(try await device.core.work.file(id))
        let (folder, schema) = (AttachmentFolder(device.filesURL), device.store.schema)
        try FileManager.default.removeItem(at: device.filesURL.appending(path: file.name))
        var writer = try SealedFileWriter(creating: folder.path(of: file.name), file.key, in: folder.fileSystem)
        try writer.write(bytes.reversed())
        try writer.finish()
        let findings = try await device.store.read { try AttachmentVerification.findings(in: folder, &$0, schema) }
        #expect(findings.count == 1 && findings.first?.message.contains("another content") == true, "\(findings)")
        await device.close()
    }
}
