import Foundation

@testable import DatasyncEmulator

/// An emulator with the table that a genuine server was tried with: `string? text; bool complete; long? priority;
/// double? price; string? note; DateTimeOffset? due`.
enum GenuineServer {
    static let table = EmulatedTableDefinition(
        "TodoItem",
        columns: [
            "text": .text.optional, "complete": .boolean, "priority": .integer.optional, "price": .number.optional,
            "note": .text.optional, "due": .date.optional,
        ]
    )

    static func client(
        isGenuine: Bool = true,
        table: EmulatedTableDefinition = Self.table,
        pageSize: Int? = nil
    ) -> Client {
        Client(tables: [table]) { configuration in
            configuration.isGenuine = isGenuine
            configuration.pageSize = pageSize
        }
    }
}

extension Client {
    /// Sends a body letter by letter as it stands.
    func send(
        _ method: String,
        _ target: String,
        _ headers: HTTPHeaderFields = [:],
        text: String
    ) async throws -> EmulatorResponse {
        var headers = headers
        if headers["Content-Type"] == nil { headers["Content-Type"] = "application/json" }
        headers["Host"] = "server"
        return try await emulator.handle(EmulatorRequest(method, target, headers: headers, body: Data(text.utf8)))
    }
}

extension EmulatorResponse {
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body with the system's stamps left out, which differ each time.
    var textWithoutStamps: String {
        text.replacing(/"updatedAt":"[^"]*","version":"[^"]*"/, with: "…")
    }

    /// The written form of a member's value, when it is no array or object.
    func written(_ member: String) -> String? {
        guard let start = text.firstRange(of: "\"\(member)\":")?.upperBound else { return nil }
        let rest = text[start...]
        if rest.first == "\"" { return rest.dropFirst().firstIndex(of: "\"").map { String(rest[...$0]) } }
        return String(rest.prefix { $0 != "," && $0 != "}" })
    }
}
