import Foundation
import Testing

@Suite("Benchmarks")
struct StoreBenchmarkTests {
    @Test("the store benchmarks measure every case and print one object")
    func storeReport() async throws {
        let answer = try await BenchmarkProcess.run(["store", "--json", "--rows", "60", "--rounds", "1"])
        let engine = try #require(answer["engine"] as? String)
        #expect(engine.contains("SQLCipher") && engine.contains("SQLite"))
        let cases = try #require(answer["cases"] as? [[String: Any]])
        let names = cases.compactMap { $0["name"] as? String }
        #expect(Set(names).count == cases.count)
        for prefix in ["insert-records-", "insert-items-", "update-records-", "update-items-"] {
            #expect(names.filter { $0.hasPrefix(prefix) }.count == 3)
        }
        let others = [
            "transaction-normal", "transaction-full", "read-each", "read-block", "query-records", "query-items",
            "scan-records", "scan-items", "state-query", "state-scan", "delete-query", "open", "aggregate",
            "aggregate-groups", "sql-report", "sql-rows",
        ]
        #expect(Set(names).isSuperset(of: others))
        for each in cases {
            let rate = try #require(each["rate"] as? Double)
            let twinRate = try #require(each["twinRate"] as? Double)
            let ratio = try #require(each["ratio"] as? Double)
            #expect(rate > 0 && twinRate > 0)
            #expect(abs(ratio - rate / twinRate) <= 0.01 * ratio)
            #expect(try #require(each["plainRate"] as? Double) > 0)
            #expect(each["unit"] is String)
        }
    }

    @Test("the growth benchmarks check every limit and print one object")
    func growthReport() async throws {
        let answer = try await BenchmarkProcess.run(
            ["growth", "--json", "--rows", "2000", "--operations", "50", "--rounds", "1"],
            accepting: [0, 1]
        )
        let checks = try #require(answer["checks"] as? [[String: Any]])
        #expect(checks.count == 4)
        for each in checks {
            let (value, limit) = (try #require(each["value"] as? Double), try #require(each["limit"] as? Double))
            #expect(each["holds"] as? Bool == (value <= limit))
            #expect(each["name"] is String && each["unit"] is String)
        }
    }

    @Test("a case that does not exist is wrong usage")
    func unknownCase() async throws {
        #expect(try await BenchmarkProcess.status(["store", "--case", "nothing"]) == 64)
    }
}
