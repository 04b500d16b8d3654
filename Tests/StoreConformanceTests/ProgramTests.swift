import ConformanceFixtures
import ConformanceRunner
import Foundation
import StoreConformance
import Testing

@Suite("A program made by one line of the kit")
struct ProgramTests {
    @Test("runs every rule of a correct store, those that kill processes included", arguments: ["file", "log"])
    func wholeRun(_ store: String) async throws {
        let killing = ["failure.disk-full", "search.killed-index"]
        let output = try await FixtureProgram.run(
            [store, "--json", "--chapter", "durability", "--chapter", "changes"] + killing.flatMap { ["--rule", $0] }
        )
        #expect(output.status == 0, "\(output.text)")
        let report = try output.json()
        #expect(report.passed)
        for id in ["durability.killed-drops-unfinished", "durability.opened-by-another-process"] + killing {
            #expect(report.status(of: id) == "passed", "\(id)")
        }
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

    @Test("runs rules in another zone than that of build machines: what takes the machine's for UTC shows")
    func zone() async throws {
        let output = try await FixtureProgram.run(["local time", "--json", "--rule", "compute.date-parts"])
        #expect(try output.json().status(of: "compute.date-parts") == "failed", "\(output.text)")
    }

    @Test("lets a store want to be opened again after a full disk")
    func openedAgain() async throws {
        let output = try await FixtureProgram.run(["file, to be opened again", "--json", "--rule", "failure.disk-full"])
        #expect(try output.json().status(of: "failure.disk-full") == "passed", "\(output.text)")
    }

    @Test("does not apply a rule whose process lacks something")
    func unsupported() async throws {
        let output = try await FixtureProgram.run(["file, one table", "--json", "--rule", "failure.disk-full"])
        let result = try #require(try output.json().results.first, "\(output.text)")
        #expect(result.status == "notApplicable" && result.reason == "it makes stores with one table", "\(result)")
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
        let isOver = time.isOver(at: start + .seconds(60), work: 0)
        #expect(!isOver, "stopped for a minute")
        var looks = 1
        while !time.isOver(at: start + .seconds(60) + .milliseconds(100 * looks), work: 0), looks < 100 { looks += 1 }
        #expect(8...9 ~= looks, "the rest of the second, a tenth at a time")
    }

    @Test("does not take a process that works for a rule that hangs, until it has worked for long")
    func working() {
        let start = ContinuousClock.now
        func looks(_ work: (Int) -> Double) -> Int {
            var time = RunningTime(seconds: 1, from: start)
            var looks = 1
            while !time.isOver(at: start + .milliseconds(100 * looks), work: work(looks)), looks < 10_000 { looks += 1 }
            return looks
        }
        #expect(9...11 ~= looks { _ in 7 }, "it sleeps")
        #expect(9...11 ~= looks { Double($0) * 0.0005 }, "it looks at the time and does nothing else")
        #expect(999...1_003 ~= looks { Double($0) * 0.01 }, "a tenth of a processor, for ten seconds of it")
        #expect(58...62 ~= looks { Double(min($0, 50)) * 0.01 }, "it works for a while and hangs then")
    }

    @Test("calls a rule that takes long slow, and not broken")
    func slow() async throws {
        let output = try await FixtureProgram.run(["toils", "--json", "--timeout", "1", "--rule", "read.absent-is-nil"])
        #expect(output.status == 0, "\(output.text)")
        let report = try output.json()
        #expect(report.status(of: "read.absent-is-nil") == "passed")
        #expect(report.results.first?.slow == true)
        let text = try await FixtureProgram.run(["toils", "--timeout", "1", "--rule", "read.absent-is-nil"]).text
        #expect(text.contains("slowest: read.absent-is-nil") && text.contains("(slow)"), "\(text)")
    }

    @Test("accepts what a store is known to do otherwise, until it does so no more")
    func deviations() async throws {
        let mutant = try #require(Mutant.all.first { $0.rule == "order.ties-by-id" })
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("deviations-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func run(_ subject: String, _ text: String, _ options: String...) async throws -> FixtureProgram.Output {
            let file = folder.appendingPathComponent("known.json")
            try Data(text.utf8).write(to: file)
            return try await FixtureProgram.run([subject, "--deviations", file.path] + options)
        }
        let known = #"[{"rule": "order.ties-by-id", "reason": "an index of ours runs backwards"}]"#
        let accepted = try await run(mutant.fault, known, "--rule", "order.ties-by-id")
        #expect(accepted.status == 0 && accepted.text.contains("an index of ours runs backwards"), "\(accepted.text)")
        let expired = try await run("queue", known, "--rule", "order.ties-by-id")
        #expect(expired.status == 1 && expired.text.contains("expired: "), "\(expired.text)")
        for wrong in [#"[{"rule": "absent", "reason": "why"}]"#, #"[{"rule": "order.first", "reason": " "}]"#, "{}"] {
            #expect(try await run("queue", wrong, "--rule", "order.first").status == 64, "\(wrong)")
        }
        try FileManager.default.removeItem(at: folder)
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
