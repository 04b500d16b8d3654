import Foundation
import Testing

@Suite("Sync benchmarks")
struct SyncBenchmarkTests {
    private static let small = [
        "sync", "--json", "--changes", "20", "--rows", "60", "--waiting", "100", "--largest", "150", "--rounds", "1",
    ]

    @Test("the sync benchmarks measure every case beside its floor and print one object")
    func syncReport() async throws {
        let answer = try await BenchmarkProcess.run(Self.small)
        let engine = try #require(answer["engine"] as? String)
        #expect(engine.contains("SQLCipher") && engine.contains("SQLite"))
        let cases = try #require(answer["cases"] as? [[String: Any]])
        let names = cases.compactMap { $0["name"] as? String }
        #expect(Set(names).count == cases.count)
        #expect(
            Set(names)
                .isSuperset(
                    of: [
                        "change-each", "change-group", "push-one", "push-eight", "push-groups", "push-one-v2",
                        "push-one-late",
                        "push-eight-late", "pull-new", "pull-again", "pull-waiting", "pull-new-v2", "idle-one",
                        "idle-ten",
                        "open-status",
                    ]
                )
        )
        for work in ["each", "group", "push", "push-groups", "pull"] {
            for size in ["w0", "w10", "w100", "r10", "r100", "r150"] {
                #expect(names.contains("growth-\(work)-\(size)"))
            }
        }
        for each in cases {
            #expect(each["unit"] is String && each["count"] is Int && each["rounds"] as? Int == 1)
            for clock in ["elapsed", "processor"] {
                let times = try #require(each[clock] as? [String: Any])
                let engine = try #require(times["microseconds"] as? Double)
                let floor = try #require(times["floorMicroseconds"] as? Double)
                let ratio = try #require(times["ratio"] as? Double)
                #expect(engine > 0 && floor > 0)
                #expect(abs(ratio - engine / floor) <= 0.01 * ratio)
            }
        }
        // As many requests as there are changes, and one for each idle table.
        for name in [
            "push-one", "push-eight", "push-one-v2", "push-one-late", "push-eight-late", "idle-one", "idle-ten",
        ] {
            let found = try #require(cases.first { $0["name"] as? String == name })
            #expect(found["requests"] as? Double == 1, "\(name)")
        }
    }

    @Test("the sync benchmarks check the growth with the queue and with the rows, memory and idle tables")
    func syncChecks() async throws {
        let answer = try await BenchmarkProcess.run(Self.small + ["--case", "growth", "--case", "idle"])
        let checks = try #require(answer["checks"] as? [[String: Any]])
        // Three of memory, two for each of the idle cases; of five kinds of work two clocks of cost and ratio with the queue,
        // and of the ratio with the rows.
        #expect(checks.count == 3 + 4 + 30)
        for each in checks {
            let (value, limit) = (try #require(each["value"] as? Double), try #require(each["limit"] as? Double))
            #expect(each["holds"] as? Bool == (value <= limit))
            #expect(each["name"] is String && each["unit"] is String)
        }
    }

    @Test("a case's whole name chooses that one alone, also where others begin so")
    func wholeName() async throws {
        let answer = try await BenchmarkProcess.run(Self.small + ["--case", "push-one"])
        let cases = try #require(answer["cases"] as? [[String: Any]])
        #expect(cases.compactMap { $0["name"] as? String } == ["push-one"])
    }

    @Test("only the cases that are chosen are measured")
    func chosenCases() async throws {
        let answer = try await BenchmarkProcess.run(Self.small + ["--case", "change"])
        let cases = try #require(answer["cases"] as? [[String: Any]])
        #expect(cases.compactMap { $0["name"] as? String } == ["change-each", "change-group"])
        #expect((answer["checks"] as? [Any])?.isEmpty == true)
    }

    @Test(
        "wrong usage is said before anything is measured",
        arguments: [
            ["sync", "--case", "nothing"], ["sync", "--rounds", "0"], ["sync", "--changes", "1"],
            ["files", "--megabytes", "0"], ["server", "--protocol", "4"], ["server", "--tables", "0"],
        ]
    )
    func wrongUsage(_ arguments: [String]) async throws {
        #expect(try await BenchmarkProcess.status(arguments) == 64)
    }
}
