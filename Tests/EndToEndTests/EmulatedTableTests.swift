import ChildProcesses
import Foundation
import Testing

@Suite("The emulator's tables, from the command line")
struct EmulatedTableTests {
    @Test("a table in a line has its columns, with defaults and in their order")
    func line() async throws {
        let table = "TodoItem(text: text?, complete: boolean, priority: integer = 3)"
        try await EmulatorProcess.with(3, ["--table", table, "--table", "Free"]) { emulator in
            let made = try await emulator.send("POST", "/tables/todoitem", #"{"id":"a","PRIORITY":"5","more":1}"#)
            #expect(made.status == 201)
            let start = #"{"text":null,"complete":false,"priority":5,"updatedAt":""#
            #expect(String(decoding: made.body, as: UTF8.self).hasPrefix(start))
            let replaced = try await emulator.send("PUT", "/tables/TodoItem/a", #"{"id":"a","text":"x"}"#)
            #expect(try replaced.object["priority"] as? Int == 3)
            #expect(try await emulator.send("POST", "/tables/TodoItem", #"{"complete":1}"#).status == 400)
            let free = try await emulator.send("POST", "/tables/Free", #"{"id":"a","more":1}"#)
            #expect(try free.object["more"] as? Int == 1)
        }
    }

    @Test("a file of tables beside a named one; what genuine servers do wrong is done where it is asked for")
    func file() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("tables.json")
        try Data(#"{"TodoItem": {"text": "text?", "due": {"kind": "date", "nullable": true}}}"#.utf8).write(to: file)
        try await EmulatorProcess.with(3, ["--tables", file.path, "--table", "Other", "--genuine"]) { emulator in
            let made = try await emulator.send("POST", "/tables/TodoItem", #"{"id":"a","due":"2024-03-04"}"#)
            #expect(try made.object["due"] as? String == "2024-03-04T00:00:00.000Z")
            #expect(try await emulator.send("POST", "/tables/TodoItem", "{").status == 500)
            #expect(try await emulator.send("GET", "/tables/other").status == 200)
        }
    }

    @Test(
        "what makes no sense is wrong usage that says why",
        arguments: [
            ("--table", "TodoItem(text: string)", "'string' is no kind of column; there are text, boolean,"),
            ("--table", "TodoItem(text)", "'text' is not of the form 'name: kind'"),
            ("--tables", "", "the name of a file"),
        ]
    )
    func usage(_ option: String, _ value: String, _ message: String) async throws {
        let result = try await ToolProcess.run(["emulator", option, value])
        #expect(result.status == 64 && result.errors.contains(message), "\(result.errors)")
    }

    @Test("a file that is missing or makes no sense is told with its name")
    func badFile() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("tables.json")
        let missing = try await ToolProcess.run(["emulator", "--tables", file.path])
        #expect(missing.status != 0 && missing.errors.contains("tables.json"), "\(missing.errors)")
        try Data(#"{"TodoItem": {"text": "red"}}"#.utf8).write(to: file)
        let senseless = try await ToolProcess.run(["emulator", "--tables", file.path])
        #expect(
            senseless.status != 0
                && senseless.errors.contains("tables.json: The column 'text' of 'TodoItem': 'red' is no kind"),
            "\(senseless.errors)"
        )
    }
}
