import ConformanceFixtures
import ConformanceRunner
import Foundation
import StoreConformance
import Testing

@Suite("A program made by one line of the kit")
struct ProgramTests {
    @Test("runs every rule of a correct store, those that kill processes included")
    func wholeRun() async throws {
        let output = try await FixtureProgram.run(["file", "--json", "--chapter", "durability", "--chapter", "changes"])
        #expect(output.status == 0, "\(output.text)")
        let report = try output.json()
        #expect(report.passed)
        #expect(report.status(of: "durability.killed-drops-unfinished") == "passed")
        #expect(report.status(of: "changes.end-on-close") == "passed")
    }

    @Test("reports a store that traps as crashed, and runs the rest")
    func trap() async throws {
        let output = try await FixtureProgram.run(["traps", "--json", "--chapter", "read"])
        #expect(output.status == 1)
        let report = try output.json()
        #expect(report.status(of: "read.id-exact-case") == "crashed")
        #expect(report.results.first { $0.id == "read.id-exact-case" }?.reason?.contains("this store traps") == true)
        #expect(report.status(of: "read.unknown-table") == "passed", "a rule after the crash")
        #expect(report.results.count == StoreRules.all.count { $0.id.hasPrefix("read.") })
    }

    @Test("gives up a store that sleeps, and one that blocks every thread of the pool", arguments: ["hangs", "blocks"])
    func hang(_ name: String) async throws {
        let output = try await FixtureProgram.run(
            [name, "--json", "--timeout", "2", "--rule", "read.tables-are-separate", "--rule", "system.properties"]
        )
        #expect(output.status == 1)
        let report = try output.json()
        #expect(report.status(of: "read.tables-are-separate") == "timedOut")
        #expect(report.status(of: "system.properties") == "passed", "a rule after the one that hangs")
    }

    @Test("does not take a process that was stopped for a while for a rule that hangs")
    func stopped() {
        let start = ContinuousClock.now
        var time = RunningTime(seconds: 1, from: start)
        let isOver = time.isOver(at: start + .seconds(60))
        #expect(!isOver, "stopped for a minute")
        var looks = 1
        while !time.isOver(at: start + .seconds(60) + .milliseconds(100 * looks)), looks < 100 { looks += 1 }
        #expect(8...9 ~= looks, "the rest of the second, a tenth at a time")
    }

    @Test("fits what people read into 80 columns")
    func columns() async throws {
        for arguments in [
            ["queue", "--list"], ["queue", "--help"], ["queue", "--chapter", "absent"],
            ["cuts before it orders", "--chapter", "order", "--seed", "1"], ["queue", "--chapter", "encryption"],
        ] {
            let output = try await FixtureProgram.run(arguments)
            let lines = (output.text + output.errors).split(separator: "\n")
            // A single word may be longer: a text that was written.
            let long = lines.filter { $0.count > 80 && $0.drop { $0 == " " }.contains(" ") }
            #expect(!lines.isEmpty && long.isEmpty, "\(arguments): \(long)")
        }
    }

    @Test("repeats random numbers for a seed, and prints the seed it chose")
    func seeds() async throws {
        let mutant = try #require(Mutant.all.first { $0.rule == "transaction.rollback-random" })
        func run(_ options: String...) async throws -> String {
            try await FixtureProgram.run([mutant.fault, "--rule", mutant.rule] + options).text
        }
        let violations = try await [run("--seed", "42"), run("--seed", "42"), run("--seed", "43")]
            .map { text in
                text.components(separatedBy: "input: ").dropFirst().map { $0.components(separatedBy: "repeat with")[0] }
            }
        #expect(!violations[0].isEmpty && violations[0] == violations[1] && violations[0] != violations[2])
        #expect(try await run().contains("repeat with: --rule transaction.rollback-random --seed "))
    }

    @Test("answers in every format, and with the right exit status")
    func formats() async throws {
        let junit = try await FixtureProgram.run(["queue", "--chapter", "read", "--junit"])
        #expect(junit.status == 0)
        let parser = XMLCheck(junit.text)
        #expect(parser.isWellFormed && parser.count("testcase") == StoreRules.all.count { $0.id.hasPrefix("read.") })
        let markdown = try await FixtureProgram.run(["queue", "--chapter", "read", "--markdown"])
        #expect(markdown.text.contains("| `read.absent-is-nil` | holds |"))
        #expect(try await FixtureProgram.run(["queue", "--list", "--json"]).text.contains("\"rules\""))
        for wrong in [
            ["--chapter", "absent"], ["--rule", "absent"], ["--seed", "x"], ["--what"], ["--timeout", "0"],
        ] {
            let output = try await FixtureProgram.run(["queue"] + wrong)
            #expect(output.status == 64, "\(wrong)")
            #expect(!output.errors.isEmpty || !output.text.isEmpty, "\(wrong) says what is wrong")
        }
    }
}

/// Whether a text is well-formed XML of the plain kind that the kit writes, and how many elements it has.
private struct XMLCheck {
    let isWellFormed: Bool
    private let names: [String]

    init(_ text: String) {
        var open: [String] = []
        var names: [String] = []
        var isRight = text.hasPrefix("<?xml")
        for part in text.split(separator: "<").dropFirst() {
            guard let end = part.firstIndex(of: ">") else {
                isRight = false
                continue
            }
            let tag = part[..<end]
            let name = String(tag.drop { $0 == "/" }.prefix { $0.isLetter })
            if tag.hasPrefix("/") {
                isRight = isRight && open.popLast() == name
            } else {
                names.append(name)
                if !tag.hasSuffix("/") { open.append(name) }
            }
        }
        isWellFormed = isRight && open.isEmpty
        self.names = names
    }

    func count(_ name: String) -> Int { names.count { $0 == name } }
}
