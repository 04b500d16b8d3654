import Foundation
import Synchronization

@testable import DatasyncEmulator

/// A clock that tells what it was told.
final class ManualClock: Sendable {
    private let milliseconds: Mutex<Int64>

    init(_ milliseconds: Int64 = 1_700_000_000_000) {
        self.milliseconds = Mutex(milliseconds)
    }

    var now: Int64 {
        milliseconds.withLock { $0 }
    }

    func set(_ value: Int64) {
        milliseconds.withLock { $0 = value }
    }
}

/// The emulator's core under short names.
struct Client {
    let emulator: Emulator
    let headers: HTTPHeaderFields

    init(
        _ dialect: EmulatorConfiguration.Dialect = .datasync,
        tables: [EmulatedTableDefinition] = ["todoitem"],
        clock: ManualClock = ManualClock(),
        adjust: (inout EmulatorConfiguration) -> Void = { _ in }
    ) {
        var configuration = EmulatorConfiguration(dialect: dialect, tables: tables)
        configuration.clock = { clock.now }
        adjust(&configuration)
        emulator = Emulator(configuration)
        headers = dialect == .datasync ? [:] : ["ZUMO-API-VERSION": "2.0.0"]
    }

    func send(
        _ method: String,
        _ target: String,
        _ extra: HTTPHeaderFields = [:],
        json: JSONValue? = nil
    ) async throws -> EmulatorResponse {
        var headers = headers
        if json != nil { headers["Content-Type"] = "application/json" }
        for (name, value) in extra {
            headers[name] = value
        }
        let request = EmulatorRequest(method, target, headers: headers, body: json?.encoded ?? Data())
        return try await emulator.handle(request)
    }

    func get(_ target: String) async throws -> EmulatorResponse {
        try await send("GET", target)
    }
}

extension EmulatorResponse {
    /// The body as JSON; throws when it is none.
    var json: JSONValue {
        get throws { try JSONValue(parsing: body) }
    }

    /// The ids of a page's rows, in either dialect.
    var ids: [String] {
        get throws {
            let json = try json
            let rows = json["items"]?.array ?? json["results"]?.array ?? json.array ?? []
            return rows.compactMap { $0["id"]?.string }
        }
    }
}
