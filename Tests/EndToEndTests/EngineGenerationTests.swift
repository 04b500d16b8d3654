import ChildProcesses
import Foundation
import SeededNumbers
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

    @Test("an upgrade that is killed at any instant leaves a whole store; done, programs in Python read every row")
    func upgrade() async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let (store, plain) = (folder.file("store").path, folder.file("plain.sqlite").path)
        try await python(Self.plainFile, [plain])
        let four = try #require(Engine.four)
        #expect(try await Engine.three.run(store: ["encrypt", plain, "--store", store]).status == 0)
        #expect(try format(of: store) == 1)

        for _ in 0..<12 where try format(of: store) == 1 {
            let process = try four.start(store: ["upgrade", "--store", store])
            let isCopying = Bool.random(using: &random)
            let deadline = ContinuousClock.now + .milliseconds(Int.random(in: 1...300, using: &random))
            try await looking {
                !process.isRunning
                    || (isCopying
                        ? FileManager.default.fileExists(atPath: store + "/store.db.new")
                        : ContinuousClock.now >= deadline)
            }
            process.signal(SIGKILL)
            _ = await process.result()
            let verified = try await four.run(store: ["verify", "--store", store])
            #expect(verified.status == 0, "seed \(seed): \(verified.output)")
        }
        #expect(try await four.run(store: ["upgrade", "--store", store]).status == 0)
        #expect(try format(of: store) == 2)
        let refused = try await Engine.three.run(store: ["verify", "--store", store])
        #expect(refused.status == 1 && refused.errors.contains("link SQLCipher 4"), "\(refused.errors)")

        // The reader of keyslot files needs a package that not every Python has.
        guard try await run(python: ["-c", "import cryptography"]).status == 0 else {
            return print("Python has no package 'cryptography': the upgraded store was not read by another program")
        }
        let keys = try await python(
            try program(in: "Keys/README.md"),
            [store + "/store.keys", "secret-file", store + "/store.secret"]
        )
        let key = try #require(keys.split(separator: " ").first.map(String.init))
        let rows = try await python(
            try program(in: "Sources/SQLCipherStore/README.md"),
            [
                four.folder + "/libsqlcipher.so.0", store + "/store.db", key,
                "SELECT COUNT(*), MIN(text), SUM(length(content)) FROM Notes",
            ]
        )
        #expect(rows == "2000\tŁódź 0\t8000000\n", "seed \(seed)")
    }

    private func format(of store: String) throws -> UInt8 {
        let start = try FileHandle(forReadingFrom: URL(filePath: store + "/store.db"))
        defer { start.closeFile() }
        return (try #require(try start.read(upToCount: 8)).last ?? 0) & 0x7F
    }

    private static let plainFile = """
        import sqlite3, sys
        database = sqlite3.connect(sys.argv[1])
        database.execute("CREATE TABLE Notes (id TEXT PRIMARY KEY, text TEXT, content BLOB)")
        rows = (("n%d" % i, "Łódź %d" % i, bytes([i & 255]) * 4000) for i in range(2000))
        database.executemany("INSERT INTO Notes VALUES (?, ?, ?)", rows)
        database.commit()
        """

    /// The first program in a description.
    private func program(in path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        let start = try #require(text.range(of: "```python\n")).upperBound
        let end = try #require(text.range(of: "```", range: start..<text.endIndex)).lowerBound
        return String(text[start..<end])
    }

    @discardableResult
    private func python(_ program: String, _ arguments: [String]) async throws -> String {
        let result = try await run(python: ["-c", program] + arguments)
        #expect(result.status == 0, "\(result.errors)")
        return result.output
    }

    private func run(python arguments: [String]) async throws -> ToolProcess.Result {
        try await ToolProcess.run(
            program: URL(filePath: "/usr/bin/env"),
            ["python3"] + arguments,
            environment: ["LD_LIBRARY_PATH": ""]
        )
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

    func run(store arguments: [String]) async throws -> ToolProcess.Result {
        try await ToolProcess.run(["store"] + arguments, environment: ["LD_LIBRARY_PATH": folder])
    }

    func start(store arguments: [String]) throws -> ChildProcess {
        try ToolProcess.start(["store"] + arguments, environment: ["LD_LIBRARY_PATH": folder])
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
