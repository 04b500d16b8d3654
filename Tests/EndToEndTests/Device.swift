import Foundation
import Testing

/// A to-do store of its own, driven through the tool, one process per call.
struct Device {
    let folder: URL
    let environment: [String: String]

    /// Makes a store; by default with a secret file, which is fast.
    static func make(
        _ name: String,
        in parent: TemporaryFolder,
        server: String,
        protocolNumber: Int,
        arguments: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> Device {
        let device = Device(folder: parent.file(name), environment: environment)
        let result = try await ToolProcess.run(
            ["todo", "init", "--store", device.folder.path, "--server", server, "--protocol", "\(protocolNumber)"]
                + arguments,
            environment: environment
        )
        try #require(result.status == 0, "\(result.errors)")
        return device
    }

    /// Runs an action whatever comes of it.
    func run(_ arguments: [String]) async throws -> ToolProcess.Result {
        try await ToolProcess.run(["todo"] + arguments + ["--store", folder.path], environment: environment)
    }

    /// Runs an action that must succeed and returns its JSON object.
    @discardableResult
    func json(_ arguments: String...) async throws -> [String: Any] {
        let result = try await run(arguments + ["--json"])
        try #require(result.status == 0, "\(arguments): \(result.errors)")
        return try result.json()
    }

    func add(_ text: String, id: String? = nil) async throws -> String {
        let answer = try await run(["add", text, "--json"] + (id.map { ["--id", $0] } ?? [])).json()
        return try #require(answer["id"] as? String)
    }

    /// The to-dos by id.
    func items() async throws -> [String: [String: Any]] {
        let items = try #require(try await json("list")["items"] as? [[String: Any]])
        return Dictionary(uniqueKeysWithValues: try items.map { (try #require($0["id"] as? String), $0) })
    }

    /// The texts by id.
    func texts() async throws -> [String: String] {
        try await items().mapValues { try #require($0["text"] as? String) }
    }

    func state(_ id: String) async throws -> String? { try await items()[id]?["syncState"] as? String }
}
