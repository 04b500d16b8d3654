import Foundation
import Testing

@testable import DatasyncEmulator

@Suite("What people write about tables")
struct TableDeclarationTests {
    private func described(_ table: EmulatedTableDefinition) -> String {
        table.columns.names
            .map { name in
                let type = table.columns.types[name] ?? .text
                let fallback = String(decoding: type.defaultValue.encoded, as: UTF8.self)
                return "\(name):\(type.kind.rawValue)\(type.isNullable ? "?" : "")=\(fallback)"
            }
            .joined(separator: " ")
    }

    @Test(
        "a table in a line",
        arguments: [
            ("TodoItem", ""), ("TodoItem()", ""), ("TodoItem (text: text)", "text:text=\"\""),
            (
                "TodoItem(text: text?, complete: boolean, priority: integer?, price: number?, due: date?)",
                "text:text?=null complete:boolean=false priority:integer?=null price:number?=null due:date?=null"
            ),
            (
                "T(a:integer=3,b: text? = \"x, (y)\", c: json = {\"d\":[1,2]})",
                "a:integer=3 b:text?=\"x, (y)\" c:json={\"d\":[1,2]}"
            ),
            (
                "T(z: decimal = 1.50, y: day, x: uuid)",
                "z:decimal=1.5 y:day=\"0001-01-01\" x:uuid=\"00000000-0000-0000-0000-000000000000\""
            ),
        ]
    )
    func line(_ text: String, _ columns: String) throws {
        let table = try TableDeclaration.table(text)
        #expect(table.name == String(text.prefix { $0.isLetter }) && table.softDelete)
        #expect(described(table) == columns)
    }

    @Test("a file of tables keeps the order of columns")
    func file() throws {
        let json = """
            { // what the app has
              "TodoItem": {"z": "text?", "a": {"kind": "integer", "default": 3}, "m": "boolean = true",
                           "n": {"kind": "date", "nullable": true}},
              "Free": {},
            }
            """
        let tables = try TableDeclaration.tables(json: Data(json.utf8), softDelete: false)
        #expect(tables.map(\.name) == ["TodoItem", "Free"] && tables.allSatisfy { !$0.softDelete })
        #expect(described(tables[0]) == "z:text?=null a:integer=3 m:boolean=true n:date?=null")
        #expect(tables[1].columns.isEmpty)
    }

    @Test(
        "what makes no sense is an error that says what is wrong",
        arguments: [
            ("", "name of a table"), ("(a: text)", "name of a table"), ("a/b", "name of a table"),
            ("T(a: text", "closing parenthesis"),
            ("T(a)", "'a' is not of the form"), ("T(a: string)", "'string' is no kind"),
            ("T(a: )", "is not of the form"),
            ("T(a: text, A: text)", "'A' twice"), ("T(id: text)", "one of the system's"),
            ("T(Version: text)", "one of the system's"),
            ("T(a: integer = 1.5)", "does not fit its kind"), ("T(a: text = x)", "JSON"),
            ("T(a: text = null)", "does not fit"),
            ("T(a b: text)", "it is no name"),
        ]
    )
    func wrong(_ text: String, _ reason: String) throws {
        let error = #expect(throws: EmulatorError.self) { try TableDeclaration.table(text) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test(
        "a file that makes no sense is one as well",
        arguments: [
            ("", "JSON"), ("[]", "must be an object"), (#"{"T": 5}"#, "The table 'T' must be"),
            (#"{"T": {"a": 5}}"#, "'a' of 'T': it is neither"),
            (#"{"T": {"a": {"kind": "text", "size": 5}}}"#, "'size'"), (#"{"T": {"a": "red"}}"#, "'red' is no kind"),
            (#"{"1": {}}"#, "not the name of a table"),
            (#"{"T": {"a": "integer = x"}}"#, "'a' of 'T': its default 'x' is no JSON"),
            (#"{"T": {"a": {"kind": "text", "nullable": "yes"}}}"#, "'nullable' is true or false"),
            ("[]", #"such as {"TodoItem": {"text": "text?"}}"#),
        ]
    )
    func wrongFile(_ json: String, _ reason: String) throws {
        let error = #expect(throws: EmulatorError.self) { try TableDeclaration.tables(json: Data(json.utf8)) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test("a seeded row is kept as a sent one would be, or refused")
    func seeds() throws {
        let client = GenuineServer.client()
        try client.emulator.seed(
            [["id": "a", "TEXT": "x", "price": "1.5", "foo": 1, "due": "2024-03-04"]],
            in: "TodoItem"
        )
        let row = client.emulator.rows(in: "TodoItem")[0]
        #expect(row["text"] == "x" && row["price"] == 1.5 && row["foo"] == nil && row["complete"] == false)
        #expect(row["due"] == "2024-03-04T00:00:00.000Z" && row["note"] == .null)
        let error = #expect(throws: EmulatorError.self) {
            try client.emulator.seed([["id": "b"], ["id": "c", "complete": 1]], in: "TodoItem")
        }
        #expect(error?.code == .invalidRow && error?.message.contains("'complete'") == true)
        #expect(client.emulator.rows(in: "TodoItem").count == 1)
    }
}
