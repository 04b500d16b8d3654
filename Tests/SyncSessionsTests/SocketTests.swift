import DatasyncEmulator
import DatasyncHTTP
import FixedPorts
import Foundation
import HTTPTransport
import OfflineSync
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import ScriptedServer
import SyncContract
import Testing

@testable import SyncSessions

/// The real thing: encrypted files, sockets, and the clock on the wall.
@Suite("Sessions over sockets and encrypted stores")
struct SocketTests {
    private struct Device {
        let folder: TestFolder
        let store: EncryptedStore
        let context: SyncContext
        let table: SyncTable<Record>
        var session: SyncSession { context.session }

        init(_ url: URL, _ transport: any ClientTransport) async throws {
            folder = try TestFolder()
            store = try await EncryptedStore.open(in: folder, [todoTable])
            context = SyncContext(
                store: store,
                remote: try DatasyncRemote(baseURL: url, dialect: .datasync, transport: transport)
            )
            table = try context.table("TodoItem")
        }

        func texts() async throws -> Set<String> {
            Set(try await table.read(table.query).records.compactMap { $0["text"]?.stringValue })
        }
    }

    private let quick = SessionOptions(
        pullInterval: .milliseconds(100),
        pushDelay: .milliseconds(5),
        backoff: Backoff(first: .milliseconds(20), longest: .milliseconds(100))
    )

    @Test("remotes that name no transport share connections")
    func shared() async throws {
        let answer =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Mon, 23 Nov 2026 08:00:00 GMT\r\n"
            + "Content-Length: 12\r\n\r\n{\"items\":[]}"
        let server = try ScriptedServer { _ in [.send(Array(answer.utf8)), .keepOpen] }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
        for _ in 0..<20 {
            let remote = try DatasyncRemote(baseURL: url, dialect: .datasync)
            _ = try await remote.page(Query("TodoItem"), of: todoTable, at: .everything, pageSize: nil)
        }
        #expect(server.requests.count >= 20 && server.connectionCount < 10, "\(server.connectionCount)")
    }

    @Test("two devices that share a transport become equal while the server stops and comes back")
    func restart() async throws {
        let emulator = Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["TodoItem"]))
        var server = EmulatorServer(emulator)
        let url = try await server.startOnFixedPort()
        let transport = DefaultTransport()
        let devices = [try await Device(url, transport), try await Device(url, transport)]
        for device in devices { device.session.start(options: quick) }
        try await devices[0].table.insert(["text": "milk", "complete": false])
        try await devices[0].session.wait(for: .both)
        try await devices[1].session.wait(for: .both)
        #expect(try await devices[1].texts() == ["milk"])

        await server.stop()
        for (number, device) in devices.enumerated() {
            try await device.table.insert(["text": .string("offline \(number)"), "complete": false])
            var states = device.session.states.makeAsyncIterator()
            while let state = await states.next() { if case .backingOff = state { break } }
            #expect(device.session.connectionState != .connected)
        }
        let waits = devices.map { device in Task { try await device.session.wait(for: .upload) } }
        server = EmulatorServer(emulator)
        _ = try await server.start(port: UInt16(url.port ?? 0))
        for wait in waits { try await wait.value }
        for device in devices { try await device.session.wait(for: .download) }
        for device in devices { #expect(try await device.texts() == ["milk", "offline 0", "offline 1"]) }
        for device in devices {
            await device.store.close()
            var states = device.session.states.makeAsyncIterator()
            while let state = await states.next() { if state == .closed { break } }
        }
        await server.stop()
    }
}
