import Foundation
import Testing

@Suite("A large attachment", .timeLimit(.minutes(5)))
struct FileBenchmarkTests {
    @Test("comes back as it was over kills and broken connections, in constant memory")
    func files() async throws {
        let answer = try await BenchmarkProcess.run(["files", "--json", "--megabytes", "64"])
        #expect(answer["wentOn"] as? Bool == true)
        let steps = try #require(answer["steps"] as? [[String: Any]])
        #expect(
            steps.compactMap { $0["name"] as? String } == ["add", "send", "send", "evict", "fetch", "fetch", "read"]
        )
        #expect(steps.map { $0["killedAt"] != nil } == [false, true, false, false, true, false, false])
        // They were broken off as well, and each part began behind the one before.
        for step in [steps[2], steps[5]] {
            let begins = try #require(step["begins"] as? [Int])
            #expect(begins.count == 5 && begins == begins.sorted() && begins[0] >= 16 << 20)
        }
    }
}
