import DatasyncHTTP
import RemoteConformance
import Testing

@Suite("Correct remotes pass every rule")
struct CorrectRemoteTests {
    @Test("the adapter, in both protocols", arguments: DatasyncDialect.allCases)
    func adapter(_ dialect: DatasyncDialect) async throws {
        let report = try await RemoteRules.suite.run(on: RemoteSubject(DatasyncHarness(dialect: dialect)))
        let text = try report.text(.text)
        #expect(report.isPassed, "\(text)")
        // What the protocols differ in: who sets `createdAt`, and whether a row is brought back in steps.
        let others = dialect == .datasync ? ["tombstone.has-the-content"] : ["value.created-at"]
        let left = report.notApplicable.map(\.rule.id)
        #expect(left == others + ["batch.is-one-request"], "everything else was tried")
    }
}
