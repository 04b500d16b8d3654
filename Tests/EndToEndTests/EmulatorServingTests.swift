import ChildProcesses
import Foundation
import Testing

@Suite("The emulator as a server to develop against, from the command line")
struct EmulatorServingTests {
    @Test("rows come from a file, go back to it at a reset, and are written to it at the end")
    func data() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("rows.json")
        try Data(#"{"TodoItem": [{"id": "a", "text": "x"}], "More": [{"id": "m"}]}"#.utf8).write(to: file)
        try await EmulatorProcess.with(3, ["--data", file.path, "--save"]) { emulator in
            let deleted = try await emulator.send("DELETE", "/tables/More/m")
            #expect(deleted.status == 204)
            #expect(try await emulator.send("POST", "/__reset").status == 204)
            #expect(try await emulator.send("GET", "/tables/More/m").status == 200)
            #expect(try await emulator.send("PUT", "/tables/TodoItem/a", #"{"id":"a","text":"y"}"#).status == 200)
        }
        try await EmulatorProcess.with(3, ["--data", file.path]) { emulator in
            let kept = try await emulator.send("GET", "/tables/TodoItem/a")
            #expect(try kept.object["text"] as? String == "y")
            #expect(try await emulator.send("GET", "/tables/More/m").status == 200)
        }
    }

    @Test("users, other origins and the ways of databases are options")
    func options() async throws {
        let arguments = ["--user", "t=ann", "--cors", "*", "--assign-ids", "--stamps", "us", "--commit-delay", "5"]
        try await EmulatorProcess.with(3, arguments + ["--seed", "1"]) { emulator in
            #expect(try await emulator.send("GET", "/tables/TodoItem").status == 401)
            let headers = ["Authorization": "Bearer t"]
            let made = try await emulator.send("POST", "/tables/TodoItem", #"{"id":"mine"}"#, headers: headers)
            #expect(made.status == 201)
            #expect(try made.object["id"] as? String != "mine")
            #expect(made.headers["access-control-allow-origin"] == "*")
        }
    }

    @Test(
        "what makes no sense is wrong usage that says why",
        arguments: [
            (["--save"], "--save needs --data"),
            (["--data", ""], "--data needs the name of a file."),
            (["--cors", "example"], "--cors is an origin"),
            (["--faults", "101"], "--faults is 0 to 100."),
            (["--user", "secret"], "--user is of the form TOKEN=NAME."),
            (["--nulls", "middle"], "--nulls is first or last."),
            (["--collation", "x"], "--collation is binary or nocase."),
            (["--stamps", "s"], "--stamps is ms, us or 100ns."),
            (["--commit-delay", "60001"], "--commit-delay is 0 to 60000."),
            (["--max-top", "0"], "--max-top is 1 to 1000000."),
            (["--node4"], "--node4 goes with --protocol 2."),
            (["--predecessor", "--protocol", "2", "--node4"], "are two servers; choose one."),
            (["--genuine", "--protocol", "2"], "--genuine goes with --protocol 3"),
            (["--no-concurrency-token", "--protocol", "2"], "--no-concurrency-token goes with --protocol 3"),
            (["--no-concurrency-token", "--commit-delay", "0"], "takes a --commit-delay above 0"),
            (["--table", "T", "--table", "t"], "Two tables are named 't'"),
        ]
    )
    func usage(_ arguments: [String], _ message: String) async throws {
        let result = try await ToolProcess.run(["emulator"] + arguments)
        #expect(result.status == 64 && result.errors.contains(message), "\(result.errors)")
        #expect(!result.errors.contains("secret"))
    }

    @Test("a file of rows that is missing or makes no sense is told with its name")
    func badFile() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("rows.json")
        let missing = try await ToolProcess.run(["emulator", "--data", file.path])
        #expect(missing.status != 0 && missing.errors.contains("rows.json"), "\(missing.errors)")
        let folderAsTables = try await ToolProcess.run(["emulator", "--tables", folder.url.path])
        #expect(folderAsTables.status == 1 && folderAsTables.errors.contains("--tables names a JSON file of tables"))
        #expect(!folderAsTables.errors.contains("NSCocoaErrorDomain"))
        try Data(#"{"TodoItem": [5]}"#.utf8).write(to: file)
        let senseless = try await ToolProcess.run(["emulator", "--data", file.path])
        #expect(
            senseless.status != 0 && senseless.errors.contains("Element 1 of the table TodoItem"),
            "\(senseless.errors)"
        )
    }
}
