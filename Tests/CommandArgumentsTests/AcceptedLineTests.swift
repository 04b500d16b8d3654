import Testing

@testable import CommandArguments

@Suite("Command lines that are understood")
struct AcceptedLineTests {
    private static let defaults = [
        "ship": "Ada", "berth": "3", "store": "d", "port": "8080", "draught": "2.5", "seed": "none", "note": "none",
        "flags": "", "kind": "cargo", "json": "false",
    ]

    /// Reads a line of `moor`, and returns what differs from the defaults.
    private func values(_ words: [String]) throws -> [String: String] {
        var path = CommandPath(Harbour.self)
        let command = try path.command(for: ["moor"] + words)
        #expect(path.name == "harbour moor")
        return try #require(command as? Moor).values.filter { Self.defaults[$0.key] != $0.value }
    }

    @Test(
        "options, flags and arguments in every form and order",
        arguments: [
            (["Ada", "3", "--store", "d"], [:]),
            (["--store", "d", "Ada", "3"], [:]),
            (["Ada", "--store=d", "3"], [:]),
            (["Ada", "3", "--store", "d", "--port", "80"], ["port": "80"]),
            (["Ada", "3", "--store", "d", "--port=65535"], ["port": "65535"]),
            (["Ada", "3", "--store", "d", "--draught-in-metres", "4"], ["draught": "4.0"]),
            (["Ada", "3", "--store", "d", "--seed", "18446744073709551615"], ["seed": "18446744073709551615"]),
            (["Ada", "3", "--store", "d", "--kind", "passenger"], ["kind": "passenger"]),
            (["Ada", "3", "--store", "d", "--json"], ["json": "true"]),
            (["Ada", "3", "--store", "d", "--json", "--json"], ["json": "true"]),
            (["Ada", "3", "--store", "d", "--note", ""], ["note": ""]),
            (["Ada", "3", "--store", "d", "--note="], ["note": ""]),
            (["Ada", "3", "--store", "d", "--note=a=b"], ["note": "a=b"]),
            (["Ada", "3", "--store", "d", "--note", "two words"], ["note": "two words"]),
            // The last one counts, but where all do.
            (["Ada", "3", "--store", "c", "--store", "d"], [:]),
            (["Ada", "3", "--store", "d", "--port", "1", "--port", "2"], ["port": "2"]),
            (["Ada", "3", "--store", "d", "--seed", "1", "--seed", "2"], ["seed": "2"]),
            (["Ada", "3", "--store", "d", "--flag", "red", "--flag=blue"], ["flags": "red blue"]),
            // Negative numbers, and what only looks like an option.
            (["Ada", "-3", "--store", "d"], ["berth": "-3"]),
            (["Ada", "3", "--store", "d", "--draught-in-metres", "-1.5"], ["draught": "-1.5"]),
            (["Ada", "3", "--store", "d", "--draught-in-metres", "-.5"], ["draught": "-0.5"]),
            (["-5", "3", "--store", "d"], ["ship": "-5"]),
            (["-", "3", "--store", "d"], ["ship": "-"]),
            (["Ada", "3", "--store", "d", "--note=--json"], ["note": "--json"]),
            (["--store", "d", "--", "--json", "3"], ["ship": "--json"]),
            (["Ada", "--store", "d", "--", "3"], [:]),
            (["--store", "d", "--", "--help", "3"], ["ship": "--help"]),
            (["", "3", "--store", "d"], ["ship": ""]),
        ] as [([String], [String: String])]
    )
    func accepted(words: [String], differences: [String: String]) throws {
        #expect(try values(words) == differences)
    }

    @Test(
        "flags of which one must be given",
        arguments: [("--to-ship", CraneLift.Direction.toShip), ("--to-quay", .toQuay)]
    )
    func alternatives(flag: String, direction: CraneLift.Direction) throws {
        for words in [[flag], [flag, flag]] {
            var path = CommandPath(Harbour.self)
            let command = try path.command(for: ["crane", "lift"] + words)
            #expect((command as? CraneLift)?.direction == direction)
        }
    }

    @Test(
        "names are those of the properties, in small letters with hyphens",
        arguments: [
            ("json", "json"), ("pageSize", "page-size"), ("queryID", "query-id"), ("urlPath", "url-path"),
            ("allowInsecureHTTP", "allow-insecure-http"), ("httpURLValue", "http-url-value"), ("keepMine", "keep-mine"),
        ]
    )
    func names(property: String, name: String) {
        #expect(property.hyphenated == name)
    }
}
