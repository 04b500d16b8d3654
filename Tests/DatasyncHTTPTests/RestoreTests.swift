import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import RemoteContract
import SyncContract
import Synchronization
import Testing

@Suite("Bringing a deleted row back, step by step")
struct RestoreTests {
    private static let table = EmulatedService.table
    private static let mine = Record(id: "a1", ["text": "mine", "whole": 1])

    /// A remote with a tombstone of other content, and the texts that were live on the server after each request.
    private func deleted(
        _ service: EmulatedService,
        failingAfter changes: Int = .max,
        _ body: (DatasyncRemote, Record, @Sendable () -> [String]) async throws -> Void
    ) async throws {
        let emulator = service.emulator()
        let plain = try service.remote(emulator)
        let row = try await plain.insert(Record(id: "a1", ["text": "deleted", "whole": 1]), into: Self.table)
        try await plain.delete("a1", from: Self.table, version: row.version)
        let tombstone = try #require(try await plain.record("a1", in: Self.table))
        let live = Mutex<[String]>([])
        let count = Mutex(0)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: service.dialect,
            transport: EmulatorTransport(emulator) { request, emulator in
                let isChange = request.method != "GET"
                if isChange,
                    count.withLock({
                        $0 += 1
                        return $0 > changes
                    })
                {
                    return EmulatorResponse(503)
                }
                let answer = try await emulator.handle(request)
                for row in emulator.rows(in: "todo") where row["deleted"] != .bool(true) {
                    live.withLock { $0.append(row["text"]?.string ?? "") }
                }
                return answer
            }
        )
        try await body(remote, tombstone) { live.withLock { $0 } }
    }

    @Test(
        "what was deleted is never there for others when the tombstone is written first",
        arguments: [EmulatedService.datasync, .genuineDatasync, .predecessor, .node, .predecessorOfProtocol2]
    )
    func hidden(_ service: EmulatedService) async throws {
        try await deleted(service) { remote, tombstone, live in
            _ = try await remote.writeTombstone(Self.mine, in: Self.table, version: tombstone.version)
            let written = try #require(try await remote.record("a1", in: Self.table))
            #expect(written.isDeleted && written["text"] == "mine")
            let row = try await remote.update(Self.mine, in: Self.table, version: written.version, restoring: true)
            #expect(!row.isDeleted && row["text"] == "mine")
            #expect(Set(live()) == ["mine"])
        }
    }

    @Test(
        "a tombstone that was written first takes one more request in protocol 2, and nothing is half done without it"
    )
    func inTwoSteps() async throws {
        try await deleted(.node) { remote, tombstone, live in
            let written = try await remote.writeTombstone(Self.mine, in: Self.table, version: tombstone.version)
            #expect(written?.isDeleted == true && written?["text"] == "mine" && live().isEmpty)
            let before = remote.requestCount
            let row = try await remote.update(Self.mine, in: Self.table, version: written?.version, restoring: true)
            #expect(row["text"] == "mine" && !row.isDeleted)
            #expect(remote.requestCount - before == 1)
        }
    }

    @Test("one that was not is brought back and changed", arguments: EmulatedService.allCases)
    func inOneStep(_ service: EmulatedService) async throws {
        try await deleted(service) { remote, tombstone, live in
            let row = try await remote.update(Self.mine, in: Self.table, version: tombstone.version, restoring: true)
            #expect(!row.isDeleted && row["text"] == "mine" && live().last == "mine")
        }
    }

    @Test("an attempt that broke off in between shows nothing of the row", arguments: [EmulatedService.node])
    func brokenOff(_ service: EmulatedService) async throws {
        try await deleted(service, failingAfter: 1) { remote, tombstone, live in
            _ = try await remote.writeTombstone(Self.mine, in: Self.table, version: tombstone.version)
            let left = try #require(try await remote.record("a1", in: Self.table))
            #expect(left.isDeleted && left["text"] == "mine" && left.version != tombstone.version)
            let error = await #expect(throws: RemoteError.self) {
                try await remote.update(Self.mine, in: Self.table, version: left.version, restoring: true)
            }
            #expect(error?.code == .throttled)
            #expect(live().isEmpty)
        }
    }

    /// The predecessor brings a row back by PATCH, which Datasync does not know: there it is a conflict.
    @Test(
        "a page that is not the service's, or a failure that passes, in answer to a PATCH is no conflict and shows nothing",
        arguments: [(EmulatedService.predecessor, 404), (.predecessor, 500), (.predecessorOfProtocol2, 404)]
    )
    func interrupted(_ service: EmulatedService, _ status: Int) async throws {
        let emulator = service.emulator()
        let isDisturbed = Mutex(true)
        let texts = Mutex<Set<String>>([])
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: service.dialect,
            transport: EmulatorTransport(emulator) { request, emulator in
                let body = String(decoding: request.body, as: UTF8.self)
                let isRestoring = request.method == "PATCH" && body.contains("deleted\":false")
                let isFirst = isDisturbed.withLock { isDisturbed in
                    defer { if isRestoring { isDisturbed = false } }
                    return isDisturbed
                }
                if isRestoring, isFirst {
                    guard status == 404 else { return EmulatorResponse(status) }
                    let page = Data("<html>No</html>".utf8)
                    return EmulatorResponse(404, headers: ["Content-Type": "text/html"], body: page)
                }
                let answer = try await emulator.handle(request)
                for row in emulator.rows(in: "todo") where row["deleted"] != .bool(true) {
                    texts.withLock { _ = $0.insert(row["text"]?.string ?? "") }
                }
                return answer
            }
        )
        let row = try await remote.insert(Record(id: "a1", ["text": "deleted", "whole": 1]), into: Self.table)
        try await remote.delete("a1", from: Self.table, version: row.version)
        let version = try #require(try await remote.record("a1", in: Self.table)).version
        texts.withLock { $0 = [] }
        func restore() async throws -> Record {
            try await remote.update(Self.mine, in: Self.table, version: version, restoring: true)
        }
        if status == 404 {
            let error = await #expect(throws: RemoteError.self) { try await restore() }
            #expect(error?.code == .notTheService)
        }
        #expect(try await restore()["text"] == "mine")
        #expect(texts.withLock { $0 } == ["mine"])
    }

    @Test("a tombstone of another version is a conflict, and nothing is changed", arguments: EmulatedService.allCases)
    func stale(_ service: EmulatedService) async throws {
        try await deleted(service) { remote, tombstone, live in
            _ = try await remote.writeTombstone(Self.mine, in: Self.table, version: tombstone.version)
            let current = try #require(try await remote.record("a1", in: Self.table))
            let before = live()
            let error = await #expect(throws: RemoteError.self) {
                try await remote.update(Self.mine, in: Self.table, version: tombstone.version, restoring: true)
            }
            #expect(error?.code == .conflict && error?.serverRecord == current)
            #expect(live() == before)
        }
    }

    @Test(
        "what another device does between the steps is a conflict, and stays",
        arguments: [true, false]
    )
    func meanwhile(isTombstone: Bool) async throws {
        let emulator = EmulatedService.predecessor.emulator()
        let plain = try EmulatedService.predecessor.remote(emulator)
        let row = try await plain.insert(Record(id: "a1", ["text": "deleted", "whole": 1]), into: Self.table)
        try await plain.delete("a1", from: Self.table, version: row.version)
        let tombstone = try #require(try await plain.record("a1", in: Self.table))
        let isFirst = Mutex(true)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: EmulatedService.predecessor.dialect,
            transport: EmulatorTransport(emulator) { request, emulator in
                let isLive = emulator.rows(in: "todo").contains { $0["deleted"] != .bool(true) }
                let isLater =
                    isTombstone
                    ? request.body.elementsEqual(#"{"deleted":false}"#.utf8) : request.method == "PUT" && isLive
                if isLater, isFirst.withLock({ exchange(&$0, with: false) }) {
                    if isTombstone {
                        _ = try await plain.writeTombstone(Self.mine, in: Self.table, version: tombstone.version)
                    } else {
                        let theirs = Record(id: "a1", ["text": "theirs", "whole": 2])
                        _ = try await plain.update(theirs, in: Self.table, version: nil, restoring: false)
                    }
                }
                return try await emulator.handle(request)
            }
        )
        // A text that PATCH takes for a date goes in two steps, and so does a column that the server does not have.
        var mine = Record(id: "a1", ["text": "2026-01-02T03:04:05+02:00", "whole": 1])
        if isTombstone { mine["missing"] = "x" }
        let columns: [ColumnDefinition] = Self.table.columns + (isTombstone ? [.init("missing", .string)] : [])
        let table = TableDefinition("todo", columns: columns)
        let error = await #expect(throws: RemoteError.self) {
            _ = try await remote.update(mine, in: table, version: tombstone.version, restoring: true)
        }
        #expect(error?.code == .conflict && !isFirst.withLock { $0 }, "\(error as Any)")
        let left = try #require(try await plain.record("a1", in: Self.table))
        #expect(isTombstone ? left.isDeleted : left["text"] == "theirs", "\(left)")
    }

    /// Nothing that may arrive late goes over what others have written since.
    @Test(
        "a step that is answered without a version leaves the next one bound to the version before",
        arguments: [(EmulatedService.node, false), (.node4, true)]
    )
    func unnamedStep(_ service: EmulatedService, isDeletedAgain: Bool) async throws {
        let emulator = service.emulator()
        let plain = try service.remote(emulator)
        let row = try await plain.insert(Record(id: "a1", ["text": "deleted", "whole": 1]), into: Self.table)
        try await plain.delete("a1", from: Self.table, version: row.version)
        let tombstone = try #require(try await plain.record("a1", in: Self.table))
        let isUnbound = Mutex(false)
        let isFirst = Mutex(true)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: service.dialect,
            transport: EmulatorTransport(emulator) { request, emulator in
                if ["PATCH", "DELETE"].contains(request.method), request.headers["If-Match"] == nil {
                    isUnbound.withLock { $0 = true }
                }
                var answer = try await emulator.handle(request)
                guard request.method == "POST", answer.status < 300 else { return answer }
                answer.headers["ETag"] = nil
                var body = try #require(try JSONSerialization.jsonObject(with: answer.body) as? [String: Any])
                body["version"] = nil
                answer.body = try JSONSerialization.data(withJSONObject: body)
                if isFirst.withLock({ exchange(&$0, with: false) }) {
                    let theirs = Record(id: "a1", ["text": "theirs", "whole": 2])
                    _ = try await plain.update(theirs, in: Self.table, version: nil, restoring: false)
                }
                return answer
            }
        )
        let error = await #expect(throws: RemoteError.self) {
            if isDeletedAgain {
                _ = try await remote.writeTombstone(tombstone, in: Self.table, version: tombstone.version)
            } else {
                _ = try await remote.update(Self.mine, in: Self.table, version: tombstone.version, restoring: true)
            }
        }
        #expect(error?.code == .conflict && !isFirst.withLock { $0 } && !isUnbound.withLock { $0 }, "\(error as Any)")
        #expect(try await plain.record("a1", in: Self.table)?["text"] == "theirs")
    }

    @Test("a row of nulls brings back a row of nulls", arguments: EmulatedService.allCases)
    func nulls(_ service: EmulatedService) async throws {
        try await deleted(service) { remote, tombstone, _ in
            let row = try await remote.update(
                Record(id: "a1", service.dialect == .datasync ? [:] : ["text": .null, "whole": .null]),
                in: Self.table,
                version: tombstone.version,
                restoring: true
            )
            #expect(!row.isDeleted && row["text"]?.isNull ?? true && row["whole"]?.isNull ?? true)
        }
    }

    private static func json(_ text: String) -> FieldValue { JSONText(text).map(FieldValue.json) ?? .null }

    @Test(
        "a text that PATCH takes for a date is written once more by PUT, also within JSON",
        arguments: [
            ("text", "2026-01-02T03:04:05+02:00", true), ("text", "/Date(0)/", true), ("text", "mine", false),
            ("meta", json(#"{"at":"2026-01-02T03:04:05+02:00"}"#), true), ("meta", json(#""\/Date(0)\/""#), true),
            ("meta", json(#"{"at":1}"#), false),
        ] as [(String, FieldValue, Bool)]
    )
    func dateTexts(_ column: String, _ value: FieldValue, _ isWrittenAgain: Bool) async throws {
        let methods = Mutex<[String]>([])
        let answering = EmulatorTransport(Emulator(EmulatorConfiguration(dialect: .datasync, tables: ["todo"]))) {
            request,
            _ in
            let count = methods.withLock { methods in
                methods.append(request.method)
                return methods.count
            }
            let body = Data(#"{"id":"a1","version":"V\#(count)","deleted":false}"#.utf8)
            return EmulatorResponse(count > 1 ? 200 : 410, headers: ["Content-Type": "application/json"], body: body)
        }
        let remote = try DatasyncRemote(baseURL: EmulatorTransport.url, dialect: .datasync, transport: answering)
        let table = TableDefinition("todo", columns: [.init("text", .string), .init("meta", .json)])
        _ = try await remote.update(Record(id: "a1", [column: value]), in: table, version: "V1", restoring: true)
        #expect(methods.withLock(\.self) == ["PUT", "PATCH"] + (isWrittenAgain ? ["PUT"] : []))
    }
}
