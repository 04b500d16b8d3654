import Testing

@testable import CommandArguments

/// A command whose last argument takes all the values that are left.
private struct Dredge: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "dredge", abstract: "Deepen berths.")

    @Argument(help: "The tool to use.")
    var tool: String

    @Argument(help: "The numbers of the berths.")
    var berth: [Int]

    @Flag(help: "Print one JSON object.")
    var json = false

    static func parsed(_ words: [String]) throws -> Dredge? {
        var path = CommandPath(Dredge.self)
        return try path.command(for: words) as? Dredge
    }
}

@Suite("An argument that takes all the values that are left")
struct RestArgumentTests {
    @Test("takes one or many, wherever the options stand")
    func accepted() throws {
        #expect(try Dredge.parsed(["bucket", "1"])?.berth == [1])
        let many = try Dredge.parsed(["bucket", "1", "--json", "2", "--", "-3"])
        #expect(many?.berth == [1, 2, -3])
        #expect(many?.tool == "bucket")
        #expect(many?.json == true)
    }

    @Test("is required, and every value of it is checked")
    func refused() {
        let mistakes: [([String], String)] = [
            (["bucket"], "Missing expected argument: '<berth>'."),
            (["bucket", "1", "two", "3"], "The value 'two' is invalid for '<berth>': give a whole number."),
        ]
        for (words, message) in mistakes {
            #expect {
                _ = try Dredge.parsed(words)
            } throws: { error in
                (error as? UsageMistake)?.message == message
            }
        }
    }

    @Test("stands in the usage with dots")
    func usage() {
        #expect(CommandPath(Dredge.self).help(columns: 80).contains("USAGE: dredge <tool> <berth> ... [--json]"))
    }
}
