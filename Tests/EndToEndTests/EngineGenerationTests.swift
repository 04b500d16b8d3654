import Foundation
import Testing

/// One tool, two libraries: the distribution's SQLCipher 3.4, which the tool is linked with, and SQLCipher 4, which
/// `make test-sqlcipher4` names in `SEALEDSYNC_SQLCIPHER4`.
@Suite("Both generations of SQLCipher", .enabled(if: Engine.four != nil))
struct EngineGenerationTests {
    @Test("a store made under SQLCipher 3 is read and written under 4, and under 3 again")
    func older() async throws {
        let folder = try TemporaryFolder()
        let store = folder.file("store").path
        try await Engine.three.succeed(["init", "--store", store, "--server", "http://127.0.0.1:9"])
        try await Engine.three.succeed(["add", "from three", "--store", store, "--id", "a"])
        let four = try #require(Engine.four)
        #expect(try await four.texts(store) == ["a": "from three"])
        try await four.succeed(["add", "from four", "--store", store, "--id", "b"])
        #expect(try await Engine.three.texts(store) == ["a": "from three", "b": "from four"])
    }

    @Test("a store made under SQLCipher 4 is refused under 3 with the remedy, and is left as it was")
    func newer() async throws {
        let folder = try TemporaryFolder()
        let store = folder.file("store").path
        let four = try #require(Engine.four)
        try await four.succeed(["init", "--store", store, "--server", "http://127.0.0.1:9"])
        try await four.succeed(["add", "from four", "--store", store, "--id", "a"])
        let before = try Data(contentsOf: folder.file("store/store.db"))

        let refused = try await Engine.three.run(["list", "--store", store, "--json"])
        #expect(refused.status == 1)
        let error = try #require(try refused.json()["error"] as? [String: Any])
        #expect(error["code"] as? String == "unsupportedFormat")
        #expect((error["message"] as? String)?.contains("link SQLCipher 4") == true)
        #expect(try Data(contentsOf: folder.file("store/store.db")) == before)
        #expect(try await four.texts(store) == ["a": "from four"])
    }
}

/// The library that the tool runs on.
private struct Engine {
    /// Where the loader looks for it first; empty for nowhere but the system's folders.
    let folder: String

    static let three = Engine(folder: "")
    static var four: Engine? {
        ProcessInfo.processInfo.environment["SEALEDSYNC_SQLCIPHER4"].map(Engine.init(folder:))
    }

    func run(_ arguments: [String]) async throws -> ToolProcess.Result {
        try await ToolProcess.run(["todo"] + arguments, environment: ["LD_LIBRARY_PATH": folder])
    }

    func succeed(_ arguments: [String]) async throws {
        let result = try await run(arguments)
        #expect(result.status == 0, "\(arguments): \(result.errors)")
    }

    func texts(_ store: String) async throws -> [String: String] {
        let result = try await run(["list", "--store", store, "--json"])
        #expect(result.status == 0, "\(result.errors)")
        let items = try #require(try result.json()["items"] as? [[String: Any]])
        return Dictionary(uniqueKeysWithValues: items.map { ($0["id"] as? String ?? "", $0["text"] as? String ?? "") })
    }
}
