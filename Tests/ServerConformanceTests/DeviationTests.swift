import ConformanceRunner
import DatasyncEmulator
import Foundation
import ServerConformance
import Testing

@Suite("Known deviations")
struct DeviationTests {
    private static let known = [Deviation(rule: "create.location", reason: "a proxy takes it out")]

    private func report(sendsLocation: Bool) async throws -> ConformanceReport {
        let answering: Answering = { request, emulator in
            try await emulator.handle(request).with { if !sendsLocation { $0.headers["Location"] = nil } }
        }
        return try await JudgedServer.with(.datasync, answering: answering) { server in
            try await server.judge(["create.location", "create.etag"]).accepting(Self.known)
        }
    }

    @Test("one that occurs does not break the run, and every report says its reason")
    func occurs() async throws {
        let report = try await report(sendsLocation: false)
        #expect(report.isPassed && report.broken.isEmpty && report.expiredDeviations.isEmpty)
        for format in ConformanceOptions.Format.allCases {
            let text = try report.text(format)
            #expect(text.contains("a proxy takes it out"), "\(format): \(text)")
        }
        #expect(try report.text(.text).contains("PASSED: 1 passed, 1 known to deviate"))
        #expect(try report.text(.junit).contains("failures=\"0\""))
    }

    @Test("one that does not occur any more has expired, breaks the run, and every report says so")
    func expired() async throws {
        let report = try await report(sendsLocation: true)
        #expect(!report.isPassed && report.broken.isEmpty && report.expiredDeviations == Self.known)
        for format in ConformanceOptions.Format.allCases {
            let text = try report.text(format)
            #expect(text.contains("a proxy takes it out") && text.contains("create.location"), "\(format): \(text)")
        }
        #expect(try report.text(.text).contains("expired: create.location holds; remove this deviation"))
        #expect(try report.text(.junit).contains("failures=\"1\""))
    }

    @Test("one whose rule was not run says nothing")
    func notRun() async throws {
        let report = try await report(sendsLocation: true).accepting([Deviation(rule: "page.walk", reason: "x")])
        #expect(report.expiredDeviations == Self.known)
    }

    @Test("a file that is none, or has no reason, is wrong usage")
    func files() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("deviations-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        for text in ["{}", "[{\"rule\": \"x\"}]", "no", "[{\"rule\": \"x\", \"reason\": \" \"}]"] {
            try Data(text.utf8).write(to: file)
            #expect(throws: UsageError.self, "\(text)") { _ = try Deviation.read(from: file.path) }
        }
        #expect(throws: UsageError.self) { _ = try Deviation.read(from: file.path + ".absent") }
        try Data("[{\"rule\": \"x\", \"reason\": \"y\"}]".utf8).write(to: file)
        #expect(try Deviation.read(from: file.path) == [Deviation(rule: "x", reason: "y")])
    }
}
