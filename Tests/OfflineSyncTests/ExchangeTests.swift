import DatasyncEmulator
import DatasyncHTTP
import Foundation
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Synchronization
import Testing

@Suite("Request and answer beside what the server did not take")
struct ExchangeTests {
    private static let refuse = Fault.respond(.json(422, .object(["message": .string("no milk today")]))) {
        $0.method != "GET"
    }

    @Test("a conflict keeps what was exchanged as long as it is stored", arguments: DatasyncDialect.allCases)
    func conflict(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            try await world.phone.table.update(Record(id: "a", ["text": "cream"]))
            _ = try await world.phone.context.push()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "butter"]))
            let report = try await laptop.context.push()
            let error = try await laptop.onlyError()
            #expect(report.conflicts.first?.exchange == error.exchange)
            let exchange = try #require(error.rawExchange)
            #expect(exchange.method == (dialect == .datasync ? "PUT" : "PATCH") && exchange.status == error.status)
            #expect(error.exchange.contains("butter") && error.exchange.contains("cream"))
            #expect(error.exchange.contains("If-Match: "))
            // In what people and logs read there is no row.
            for text in ["\(error)", error.localizedDescription, String(reflecting: error), "\(report)", "\(exchange)"]
            {
                #expect(!text.contains("butter") && !text.contains("cream"), "\(text)")
            }
            try await laptop.context.resolve(error, with: .takeServer)
            #expect(try await laptop.context.operationErrors().isEmpty)
            let left = try await laptop.store.read(Query(SystemTables.operationErrors.name)).records
            #expect(left.isEmpty, "with the error goes what was exchanged")
        }
    }

    @Test("a refusal keeps it, and an edit drops it", arguments: DatasyncDialect.allCases)
    func refusal(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "a")
            world.emulator.inject(Self.refuse)
            _ = try await laptop.context.push()
            let error = try await laptop.onlyError()
            #expect(error.exchange.hasPrefix("POST /tables/TodoItem\n") && error.exchange.contains("HTTP 422"))
            #expect(error.exchange.contains("no milk today"))
            try await laptop.table.update(Record(id: "a", ["text": "cream"]))
            let left = try await laptop.store.read(Query(SystemTables.operationErrors.name)).records
            #expect(left.isEmpty)
        }
    }

    @Test("a push that ended has it in its error, and not in the message or the log")
    func aborted() async throws {
        try await SyncWorld.with(.datasync) { world in
            let lines = Mutex<[String]>([])
            let context = SyncContext(
                store: world.laptop.store,
                remote: world.laptop.server,
                options: SyncOptions(log: { line in lines.withLock { $0.append(line) } })
            )
            try await world.laptop.table.insert(["text": "butter"], id: "a")
            world.emulator.inject(.respond(EmulatorResponse(401)) { $0.method == "POST" })
            let error = try #require(await #expect(throws: SyncError.self) { try await context.push() })
            #expect(error.code == .pushAbortedAuthentication)
            #expect(error.exchange.contains("butter") && error.exchange.contains("HTTP 401"))
            for text in ["\(error)", error.localizedDescription, String(reflecting: error)] + lines.withLock({ $0 }) {
                #expect(!text.contains("butter"), "\(text)")
            }
        }
    }

    @Test("an error that was stored without an exchange, or with a damaged one, has none")
    func older() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "a")
            world.emulator.inject(Self.refuse)
            _ = try await laptop.context.push()
            for damage in ["\"another\":", "\"exchange\":[],\"another\":"] {
                try await laptop.store.write { transaction in
                    for var row in try transaction.records(Query(SystemTables.operationErrors.name)) {
                        let text = String(decoding: row["properties"]?.bytesValue ?? [], as: UTF8.self)
                        row["properties"] = .bytes(Array(text.replacing("\"exchange\":", with: damage).utf8))
                        try transaction.upsert([row], into: SystemTables.operationErrors.name)
                    }
                }
                let error = try await laptop.onlyError()
                #expect(error.exchange.isEmpty && error.rawExchange == nil && error.status == 422)
            }
        }
    }
}
